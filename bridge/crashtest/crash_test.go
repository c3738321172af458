package crashtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// machine is the disks that a scenario runs on.
type machine struct {
	name     string
	volumes  []disktest.Volume
	twoNames bool // a rename that replaces nothing is two calls
}

var machines = []machine{
	{name: "one disk", volumes: []disktest.Volume{{Path: "/", OrdersNames: true}}},
	// New files are made beside the notes.
	{name: "two disks", volumes: []disktest.Volume{{Path: "/", OrdersNames: true}, {Path: vaultDir, OrdersNames: true}}},
	{name: "no order", volumes: []disktest.Volume{{Path: "/"}}},
	{name: "no exchange", volumes: []disktest.Volume{{Path: "/", OrdersNames: true, NoExchange: true}}, twoNames: true},
	{name: "a plain disk", volumes: []disktest.Volume{{Path: "/", NoExchange: true, NoLinks: true, NoLeases: true}}},
}

// all says that the states at every call are to be visited, which takes hours. Without it a run visits some, and RELAYFS_SEED says which.
var all = randomtest.Soaks()

// bound is some, or most if all calls are visited.
func bound(some, most int) int {
	if all {
		return most
	}
	return some
}

// choose returns which of the moments of a run are visited: all of them in a soak, else n of different kinds. The machines
// take turns with the kinds of a scenario.
func (v *visitor) choose(moments []moment, n int) func(moment) bool {
	if all {
		return anyOf
	}
	if !need.Everything() {
		n = 1
	}
	byKind := make(map[string][]int)
	for _, m := range moments {
		byKind[m.kind()] = append(byKind[m.kind()], m.n)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	rand.New(rand.NewPCG(v.order, 0)).Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	chosen := make(map[int]bool)
	for i := range min(n, len(kinds)) {
		chosen[randomtest.Pick(v.rng, byKind[kinds[(v.turn*n+i)%len(kinds)]]...)] = true
	}
	return func(m moment) bool { return chosen[m.n] }
}

func anyOf(moment) bool { return true }

func noneOf(moment) bool { return false }

// each runs kinds of a test for all machines and scenarios that fit each other, with a visitor that has a random source of its own.
func each(t *testing.T, fits func(machine, scenario) bool, kinds []string, test func(v *visitor, kind int)) {
	seeds := randomtest.New(t)
	for _, sc := range scenarios {
		order := seeds.Uint64()
		for turn, m := range machines {
			for kind, name := range kinds {
				seed := seeds.Uint64()
				if !fits(m, sc) {
					continue
				}
				t.Run(strings.TrimSuffix(m.name+"/"+sc.name+"/"+name, "/"), func(t *testing.T) {
					t.Parallel()
					v := &visitor{sc: sc, m: m, dir: bridgetest.Scratch(t), rng: rand.New(rand.NewPCG(seed, 0)), order: order, turn: turn, seen: make(map[string]bool)}
					v.visits = v.rng.IntN(nested)
					synctest.Test(t, func(t *testing.T) {
						v.t = t
						v.expect()
						test(v, kind)
					})
					v.report(t)
				})
			}
		}
	}
}

// TestEveryCrash stops each scenario before calls of each kind, or in a soak before each call, by a kill and by power cuts.
func TestEveryCrash(t *testing.T) {
	each(t, possible, []string{""}, func(v *visitor, _ int) {
		v.cuts = bound(3, 1<<20)
		visited := v.choose(v.run(noneOf, nil), 4)
		v.visitAll(v.run(visited, nil))
	})
}

// TestUndoAfterACrash stops scenarios that accept all proposals, and has the next process take that back.
func TestUndoAfterACrash(t *testing.T) {
	fits := func(m machine, sc scenario) bool { return sc.accepts && possible(m, sc) }
	each(t, fits, []string{""}, func(v *visitor, _ int) {
		before := v.expected[0]
		for _, m := range v.run(v.choose(v.run(noneOf, nil), 4), nil) {
			if m.w == nil {
				continue
			}
			v.kills++
			p := v.start(m.w)
			s, err := p.look()
			if check(v.t, err); len(s.decided) > 0 {
				check(v.t, p.undo())
				s, err = p.look()
				check(v.t, err)
			}
			s.decided = before.decided
			if !s.like(before, true) {
				v.t.Errorf("%s: an undo after a kill before call %d (%v) leaves\n\t%v\nwant\n\t%v", v.sc.name, m.n, m.call, s, before)
			}
			p.end()
		}
	})
}

// TestTimesOfAFile has a file proposed, accepted and undone at one time: its states are told apart by their times.
func TestTimesOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &visitor{t: t, m: machines[0], dir: bridgetest.Scratch(t)}
		v.sc = scenario{name: "times", files: map[string]string{"a.csv": "x\n"}, setUp: []step{writeFile("Notes/a.csv", "a,b\n")}}
		w := v.prepare()
		p := v.start(w)
		defer p.end()
		last := w.modTimes()["a.csv"]
		for _, s := range []step{decideProposal(model.Accepted), undo(), decideProposal(model.Accepted)} {
			check(t, s.do(p))
			now := w.modTimes()["a.csv"]
			if now <= last {
				t.Errorf("the file has the time %d, and had %d before", now, last)
			}
			last = now
		}
	})
}

// possible leaves out moves where a note may have two names in the middle.
func possible(m machine, sc scenario) bool { return !sc.moves || !m.twoNames }

// TestEveryFailingSync has a sync of each kind, or in a soak each sync, of a scenario fail once. The step that is told so is the last one then.
func TestEveryFailingSync(t *testing.T) {
	fits := func(m machine, sc scenario) bool {
		return !m.twoNames // with two names a file in the trash may be in its place, too
	}
	each(t, fits, []string{""}, func(v *visitor, _ int) {
		v.cuts, v.fails = bound(2, 16), true
		syncs := slices.DeleteFunc(v.run(noneOf, nil), func(m moment) bool { return m.call.Op != "sync" && m.call.Op != "datasync" })
		v.meddle(syncs, 2, func(*world, disktest.Call) error { return syscall.EIO })
	})
}

// hers is the line that a person types at the beginning of the note.
const hers = "hers\n"

// TestEveryPersonsSave has a person save the note before calls of each kind of a scenario, in place and by a new file, and
// stops that before a later call; in a soak, before each call and each later one.
func TestEveryPersonsSave(t *testing.T) {
	fits := func(m machine, sc scenario) bool {
		return sc.person && !m.volumes[0].NoExchange // there a save in the wrong microsecond is lost
	}
	saves := []save{disktest.Person.Save, disktest.Person.SaveByRename}
	each(t, fits, []string{"in place", "by rename"}, func(v *visitor, kind int) {
		v.cuts, v.person = bound(2, 16), true
		v.meddle(v.run(noneOf, nil), 4, saves[kind].plan)
	})
}

// save is how a person saves a file.
type save func(p disktest.Person, path, text string) error

// plan saves the note with a line more, if it is there.
func (s save) plan(w *world, _ disktest.Call) error {
	text, err := w.disk.Person().Read(vaultDir + "/Plan.md")
	if errors.Is(err, fs.ErrNotExist) {
		return errSkipped
	}
	return errors.Join(err, s(w.disk.Person(), vaultDir+"/Plan.md", hers+text))
}

// TestTwoNotesAtOneTime has a person save or rename one of two notes that have got one modification time, before calls
// of different kinds from the last exchange on, or in a soak before each. A power cut may tear either note.
func TestTwoNotesAtOneTime(t *testing.T) {
	fits := func(m machine, sc scenario) bool {
		// Elsewhere a note is not torn.
		return sc.name == twoNotes.name && !m.volumes[0].NoExchange && m.volumes[0].OrdersNames
	}
	does := []save{disktest.Person.Save, disktest.Person.SaveByRename, renamePlan}
	each(t, fits, []string{"saves in place", "saves by rename", "renames"}, func(v *visitor, kind int) {
		v.cuts, v.person, v.renames = bound(6, 100), kind < 2, kind == 2
		moments := v.run(func(m moment) bool { return m.over }, nil)
		if times := moments[len(moments)-1].w.modTimes(); times["Plan.md"] != times["Other.md"] {
			v.t.Fatalf("the notes have different times: %v", times)
		}
		n := slices.IndexFunc(moments, func(m moment) bool { return m.call.Op == "exchange" })
		v.meddle(moments[n:], 3, does[kind].plan)
	})
}

func renamePlan(p disktest.Person, path, _ string) error {
	dir, err := p.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Rename("Plan.md", dir, "Moved.md")
}

// errSkipped says that there is nothing to do before a call.
var errSkipped = errors.New("skipped")

// meddle has do done before some of the calls, and visits one later moment of each run, or all in a soak. An error of do is
// what the call returns if syncs fail.
func (v *visitor) meddle(calls []moment, some int, do func(*world, disktest.Call) error) {
	chosen := v.choose(calls, some)
	for _, at := range calls {
		if at.over || !chosen(at) {
			continue
		}
		done, later := false, 0
		visited := func(m moment) bool {
			if m.n <= at.n {
				return false
			}
			later++
			return all || v.rng.IntN(later) == 0 // the last one that is kept is any of them
		}
		moments := v.run(visited, func(w *world, c disktest.Call, call int) error {
			if call != at.n {
				return nil
			}
			err := do(w, c)
			if errors.Is(err, errSkipped) {
				return nil
			}
			done = true
			if !v.fails {
				check(v.t, err)
			}
			return err
		})
		if !done {
			continue
		}
		moments = slices.DeleteFunc(moments, func(m moment) bool { return m.w == nil })
		if !all {
			moments = moments[len(moments)-1:]
		}
		v.visitAll(moments)
	}
}

// visitor visits the states of one scenario on one machine.
type visitor struct {
	t      testing.TB
	sc     scenario
	m      machine
	dir    string
	rng    *rand.Rand
	order  uint64 // of the kinds of calls
	turn   int    // of the machine
	cuts   int    // how many states of one moment are visited
	person bool   // somebody has saved
	fails  bool   // a sync has failed
	// renames says that somebody has renamed the note, which relayfs is not told.
	renames bool

	expected []sight // before the first step, and after each
	seen     map[string]bool
	visits   int
	kills    int
	powers   int
	skipped  int // states that were the same as earlier ones
	failed   int
}

func (v *visitor) report(t *testing.T) {
	t.Logf("%d states after kills, %d after power cuts (%d the same as others)", v.kills, v.powers, v.skipped)
}

// sight is what a process shows of a vault.
type sight struct {
	notes     map[model.Path]string // their raw texts
	files     map[model.Path]string // where people have them, and what is there
	others    map[string]string     // files that are not notes, by people's paths
	trash     map[string]string
	pending   []pending
	decided   []string // newest first
	proposals []string
}

// pending is one suggestion that waits.
type pending struct{ path, kind, old, new, author string }

func (s sight) String() string {
	return fmt.Sprintf("notes %q\n\tothers %q\n\tpending %+v\n\tdecided %q\n\tproposals %q\n\ttrash %q", s.notes, s.others, s.pending, s.decided, s.proposals, s.trash)
}

// open opens every note.
func (p *process) open() error {
	return p.ws.Walk(p.t.Context(), "", func(e bridge.Info) error {
		if e.Kind != model.KindNote {
			return nil
		}
		_, err := p.ws.Open(p.t.Context(), e.Path)
		return err
	})
}

func (p *process) look() (s sight, err error) {
	ctx := p.t.Context()
	s.notes, s.files = make(map[model.Path]string), make(map[model.Path]string)
	s.trash = p.w.disk.Person().Files(vaultDir + "/.trash")
	s.others = p.w.notes()
	maps.DeleteFunc(s.others, func(rel, _ string) bool { return filepath.Ext(rel) == ".md" })
	err = p.ws.Walk(ctx, "", func(e bridge.Info) error {
		if e.Kind != model.KindNote {
			return nil
		}
		version, err := p.ws.Open(ctx, e.Path)
		if err != nil {
			return err
		}
		at, err := p.ws.SourcePath(e.Path)
		if err != nil {
			return err
		}
		_, rel := at.Split()
		s.notes[e.Path], s.files[e.Path] = version.Raw(), p.w.notes()[rel]
		return p.remembers(e.Path, version.Raw())
	})
	if err != nil {
		return s, err
	}
	list, err := p.ws.Suggestions(ctx, "")
	if err != nil {
		return s, err
	}
	for _, x := range list {
		s.pending = append(s.pending, pending{string(x.Path), x.Kind.String(), x.Old, x.New, x.Author})
	}
	journal, err := p.ws.Journal(100)
	if err != nil {
		return s, err
	}
	batch, first := "", 0 // of the entries of one decision, whose order says nothing
	for _, e := range journal {
		if d := e.Decision; d != nil {
			if d.Batch != batch {
				batch, first = d.Batch, len(s.decided)
			}
			s.decided = append(s.decided, fmt.Sprintf("%s %d", d.Verdict, len(d.Items)))
			slices.Sort(s.decided[first:])
		}
	}
	proposals, err := p.ws.Proposals(ctx, "")
	for _, x := range proposals {
		s.proposals = append(s.proposals, fmt.Sprintf("%s %s %s by %s", x.Kind, x.Path, x.NewPath, x.Author))
	}
	slices.Sort(s.proposals)
	return s, err
}

// remembers checks that the history of a note, if it has one, ends with its text.
func (p *process) remembers(path model.Path, raw string) error {
	h, err := p.ws.Histories.History(p.t.Context(), path)
	var unknown *history.UnknownError
	if errors.As(err, &unknown) {
		return nil
	}
	if err != nil {
		return err
	}
	if text, _, err := h.At(history.Point{Time: time.Now().Add(time.Hour)}, diffwrap.RawView); err != nil || text != raw {
		return fmt.Errorf("the history of %s ends with %q, %v, want %q", path, text, err, raw)
	}
	return nil
}

// like says whether s is what was expected. Authors may be missing unless they are certain.
func (s sight) like(want sight, authors bool) bool {
	if !maps.Equal(s.notes, want.notes) || !maps.Equal(s.others, want.others) || !slices.Equal(s.decided, want.decided) || !slices.Equal(s.proposals, want.proposals) {
		return false
	}
	if authors {
		return slices.Equal(s.pending, want.pending)
	}
	// What nobody has written is not told from what a person did, in the middle of another's.
	return !slices.ContainsFunc(s.pending, func(p pending) bool {
		return p.author != "" && !slices.ContainsFunc(want.pending, func(w pending) bool { return w.author == p.author })
	})
}

// without is s without what a person typed at the beginning of notes.
func (s sight) without(typed string) sight {
	bare := s
	bare.notes = make(map[model.Path]string)
	for path, text := range s.notes {
		bare.notes[path] = strings.TrimPrefix(text, typed)
	}
	return bare
}

func (v *visitor) start(w *world) *process {
	v.t.Helper()
	p, err := start(v.t, w, v.dir)
	if err != nil {
		p.end()
		v.t.Fatalf("%s: %v", v.sc.name, err)
	}
	return p
}

// prepare makes a world in which the scenario can begin.
func (v *visitor) prepare() *world {
	w := newWorld(v.t, v.m.volumes, v.sc.files)
	if len(v.sc.setUp) > 0 {
		p := v.start(w)
		for _, s := range v.sc.setUp {
			check(v.t, s.do(p))
		}
		settle()
		p.end()
	}
	return w
}

// expect finds out what is there after each step.
func (v *visitor) expect() {
	p := v.start(v.prepare())
	for i := range len(v.sc.steps) + 1 {
		if i > 0 {
			check(v.t, v.sc.steps[i-1].do(p))
		}
		s, err := p.look()
		check(v.t, err)
		v.expected = append(v.expected, s)
	}
	p.end()
}

// moment is the world before one call.
type moment struct {
	w       *world // nil if the moment is not visited
	n       int    // number of the call
	call    disktest.Call
	done    int  // steps that have returned
	certain int  // the last of them that outlives a power cut
	synced  int  // the last of which the log has been synced
	over    bool // everything has settled
}

// kind is what the call does, and whether it does so in the vault.
func (m moment) kind() string { return fmt.Sprint(m.call.Op, strings.HasPrefix(m.call.Path, vaultDir)) }

// run runs the scenario and keeps the world before the calls, and at the end, if they are visited. meddle, unless nil, is called
// before each call, and returns the error of that.
func (v *visitor) run(visited func(moment) bool, meddle func(w *world, c disktest.Call, call int) error) (moments []moment) {
	w := v.prepare()
	p := v.start(w)
	settle()
	var mu sync.Mutex // protects the following
	var now moment
	synced := logSync{dir: storePath}
	w.disk.Before(func(c disktest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		now.n++
		var err error
		if meddle != nil {
			err = meddle(w, c, now.n)
		}
		m := now // with what is certain before the call
		if m.call = c; visited(m) {
			m.w = w.now()
		}
		moments = append(moments, m)
		if err == nil {
			now.synced = max(now.synced, synced.after(c, now.done))
		}
		return err
	})
	for i, s := range v.sc.steps {
		err := s.do(p)
		if err != nil && v.fails {
			break
		}
		if err != nil && !v.renames {
			v.t.Fatalf("%s, step %d: %v", v.sc.name, i+1, err)
		}
		mu.Lock()
		now.done = i + 1
		if s.certain {
			now.certain = i + 1
		}
		mu.Unlock()
	}
	settle()
	w.disk.Before(nil)
	now.n, now.over = now.n+1, true
	if visited(now) {
		now.w = w.now()
	}
	moments = append(moments, now)
	if err := p.stop(); !v.fails {
		check(v.t, err)
	}
	return moments
}

// logSync follows the syncs of the log.
type logSync struct {
	dir    string
	named  bool // the segment's name is durable
	before int  // steps that were done when the bytes were synced
}

// after is how many steps the log has for certain after a call, before which so many had returned.
func (l *logSync) after(c disktest.Call, done int) int {
	switch {
	case c.Path == l.dir && c.Op == "sync":
		l.named = true
	case filepath.Dir(c.Path) != l.dir:
	case c.Op == "datasync":
		l.before = done
	case c.Op != "write":
		l.named = false
	}
	if l.named {
		return l.before
	}
	return 0
}

// visitAll visits the states that kills and power cuts leave at the moments that a run has kept.
func (v *visitor) visitAll(moments []moment) {
	for _, m := range moments {
		if m.w == nil {
			continue
		}
		hi := min(m.done+1, len(v.sc.steps))
		v.visit(m, "a kill", m.w.now(), legal{lo: m.done, hi: hi, kill: true, synced: m.synced})
		lo := m.certain
		if m.over && !v.fails {
			lo = m.done
		}
		for cut := range m.w.disk.SomePowerCuts(v.cuts, v.rng) {
			w := &world{disk: cut, checkpoint: m.w.checkpoint, commits: m.w.commits}
			v.visit(m, "a power cut", w, legal{lo: lo, hi: hi, synced: m.synced})
		}
	}
}

// legal is what a process may find.
type legal struct {
	lo, hi int  // what there was after one of these steps
	kill   bool // with every author; else with those of the first steps
	synced int
}

// visit starts relayfs on a state and looks whether it finds what is legal.
func (v *visitor) visit(m moment, why string, w *world, want legal) {
	key := fmt.Sprint(w.disk.Sum(), w.commits, want.lo, want.hi, want.kill, want.synced)
	switch {
	case v.failed >= maxFailures:
		return
	case v.seen[key]:
		v.skipped++
		return
	case want.kill:
		v.kills++
	default:
		v.powers++
	}
	v.seen[key] = true
	before := w.now()
	if problem := v.recovers(w, want); problem != "" {
		v.failed++
		v.t.Errorf("%s on %s: %s before call %d (%v), after %d steps:\n%s\ncalls:\n%s\ndisk:\n%s",
			v.sc.name, v.m.name, why, m.n, m.call, m.done, problem, m.w.calls(), before.listing())
	}
}

// nested is of how many states one is visited with kills of the process that recovers from it.
var nested = bound(40, 8)

// afterwards is how many states of a power cut are visited that comes when a process has recovered, after one in four
// kills and power cuts unless all are.
const afterwards = 4

// maxFailures bounds what is told of one scenario.
const maxFailures = 3

// recovers says what is wrong with a process that starts on a world, and with the next one, "" if nothing is.
func (v *visitor) recovers(w *world, want legal) string {
	var during []*world
	if v.visits++; v.visits%nested == 0 {
		w.disk.Before(func(disktest.Call) error {
			during = append(during, w.now())
			return nil
		})
	}
	first, again, problem := v.restart(w, want.kill)
	w.disk.Before(nil)
	if problem == "" {
		problem = v.unexpected(first, want)
	}
	if problem != "" {
		return problem
	}
	for i, w := range during {
		if problem := v.next(w, want); problem != "" {
			return fmt.Sprintf("a kill of the next process, before its call %d: %s", i+1, problem)
		}
	}
	cuts := afterwards
	if !all && v.visits%4 > 0 || v.fails && want.kill { // that a sync failed dies with the process that was told
		cuts = 0
	}
	want.kill = false
	for cut := range again.disk.SomePowerCuts(cuts, v.rng) {
		if problem := v.next(&world{disk: cut, checkpoint: again.checkpoint, commits: again.commits}, want); problem != "" {
			return "a power cut when the next process has settled: " + problem
		}
	}
	before := len(again.disk.Calls())
	second, _, problem := v.restart(again, false)
	switch {
	case problem != "":
		return "the second start: " + problem
	case !second.like(first, true):
		return fmt.Sprintf("the second start makes\n\t%v\nof\n\t%v", second, first)
	}
	for _, c := range again.disk.Calls()[before:] {
		if strings.HasPrefix(c.Path, vaultDir) || strings.HasPrefix(c.Path, swapDir+"/") {
			return fmt.Sprintf("the second start changes the vault: %v", c)
		}
	}
	return ""
}

// next says what is wrong with a process that starts on a world, "" if nothing is.
func (v *visitor) next(w *world, want legal) string {
	s, _, problem := v.restart(w, want.kill)
	if problem == "" {
		problem = v.unexpected(s, want)
	}
	return problem
}

// unexpected says why what a process shows is not legal, "" if it is.
func (v *visitor) unexpected(s sight, want legal) string {
	if v.renames {
		return v.lost(s, want)
	}
	if v.person {
		s = s.without(hers)
	}
	found := want.lo < want.hi && v.sc.between != nil && s.like(v.sc.between(v.expected), want.kill || !v.sc.apart)
	for i := want.lo; i <= want.hi; i++ {
		found = found || s.like(v.expected[i], want.kill || i <= want.synced)
	}
	if found {
		return ""
	}
	return fmt.Sprintf("there are\n\t%v\nwant one of\n\t%v", s, v.expected[want.lo:want.hi+1])
}

// lost says which note is neither as it was nor as it is to be, "" if none is. The note that was renamed may be torn by a power cut
// if what it held before is in the trash.
func (v *visitor) lost(s sight, want legal) string {
	for path := range v.expected[0].notes {
		got, found := s.notes[path]
		if path == plan && !found {
			got, found = s.notes[moved]
		}
		legal := func(text string) bool {
			return slices.ContainsFunc(v.expected, func(s sight) bool { return s.notes[path] == text })
		}
		kept := path == plan && !want.kill && slices.ContainsFunc(slices.Collect(maps.Values(s.trash)), legal)
		if !found || !legal(got) && !kept {
			return fmt.Sprintf("%s is lost: there are\n\t%v\nwant one of\n\t%v", path, s, v.expected)
		}
	}
	return ""
}

// restart starts a process, waits until it has settled, and says what it shows, and how it leaves the world if it is killed then.
func (v *visitor) restart(w *world, kill bool) (s sight, after *world, problem string) {
	p, err := start(v.t, w, v.dir)
	defer p.end()
	if err != nil {
		return s, nil, fmt.Sprintf("no start: %v", err)
	}
	if err := p.open(); err != nil {
		return s, nil, fmt.Sprintf("no look: %v", err)
	}
	settle()
	if s, err = p.look(); err != nil {
		return s, nil, fmt.Sprintf("no look: %v", err)
	}
	after = w.now()
	for path, raw := range s.notes {
		if s.files[path] != raw {
			return s, nil, fmt.Sprintf("%s is %q, its file %q", path, raw, s.files[path])
		}
	}
	if left := w.left(kill && !v.sc.recovers); len(left) > 0 {
		return s, nil, fmt.Sprintf("left are %s", strings.Join(left, ", "))
	}
	if v.person && !w.has(hers) {
		return s, nil, "what the person has saved is lost"
	}
	return s, after, ""
}

// calls is the log of the calls, the last ones of a long one.
func (w *world) calls() string {
	var lines []string
	for _, c := range w.disk.Calls() {
		lines = append(lines, "\t"+c.String())
	}
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}

func (w *world) listing() string {
	var lines []string
	files := w.disk.Person().Files("/")
	maps.Copy(files, w.disk.Person().Files(vaultDir)) // it may be a disk of its own
	for path, text := range files {
		if filepath.Ext(path) == ".seg" {
			text = fmt.Sprintf("%d bytes", len(text))
		}
		lines = append(lines, fmt.Sprintf("\t%s %q", path, text))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
