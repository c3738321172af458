package bridge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

var (
	bob       = model.Author{Name: "bob", Session: "s2"}
	errKilled = errors.New("the process has been killed")
)

// machine is the source and the store of a process that is killed before one of the steps
// that it takes with them: nothing of either happens from then on.
type machine struct {
	src    *bridgetest.Source
	store  *bridgetest.Store
	steps  int
	killAt int // the step that is not taken; 0 for none
	// atExchange kills the process when the store has a record and the file does not.
	atExchange bool

	mu       sync.Mutex    // protects the following, and steps
	unplaced []model.Stamp // of files on their way
}

func (m *machine) step() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps++
	return m.alive()
}

func (m *machine) alive() error {
	if m.killAt > 0 && m.steps >= m.killAt {
		return errKilled
	}
	return nil
}

func (m *machine) placed(post model.Stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unplaced = slices.DeleteFunc(m.unplaced, post.SameFile)
}

// then is fn, and the step after it.
func (m *machine) then(fn func(model.Stamp) error) func(model.Stamp) error {
	return func(post model.Stamp) error {
		if fn != nil {
			if err := fn(post); err != nil {
				return err
			}
		}
		m.mu.Lock()
		m.unplaced = append(m.unplaced, post)
		if m.atExchange {
			m.killAt = m.steps + 1
		}
		m.mu.Unlock()
		return m.step()
	}
}

// killed does something in a process that is killed when the store has the record of it
// and the file does not.
func killed(t *testing.T, src *bridgetest.Source, store *bridgetest.Store, do func(*bridge.Workspace) error) {
	t.Helper()
	m := &machine{src: src, store: store}
	ws := m.start(t)
	m.atExchange = true
	if err := do(ws); !errors.Is(err, errKilled) {
		t.Fatalf("%v, want %v", err, errKilled)
	}
}

// machineSource is what such a process sees of its source.
type machineSource struct {
	*bridgetest.Source
	m *machine
}

func (s machineSource) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	r.BeforeRename = s.m.then(r.BeforeRename)
	if err := s.m.step(); err != nil {
		return model.Stamp{}, err
	}
	durable := model.Replacement{OnDurable: r.OnDurable}
	r.OnDurable = nil
	stamp, err := s.Source.Replace(ctx, rel, r)
	if err == nil {
		durable.Durable() // now, so that the steps are the same in each run
	}
	s.m.placed(stamp)
	return stamp, errors.Join(err, s.m.step())
}

func (s machineSource) Create(ctx context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	file.BeforeRename = s.m.then(file.BeforeRename)
	if err := s.m.step(); err != nil {
		return model.Stamp{}, err
	}
	stamp, err := s.Source.Create(ctx, rel, file)
	s.m.placed(stamp)
	return stamp, errors.Join(err, s.m.step())
}

func (s machineSource) Retract(ctx context.Context, rel string, stamp model.Stamp) error {
	if err := s.m.step(); err != nil {
		return err
	}
	return s.Source.Retract(ctx, rel, stamp)
}

// survivor is the source after a crash.
type survivor struct {
	*bridgetest.Source
	m *machine
}

// Placed says whether the new file of a save got its name.
func (s survivor) Renamed(save model.Save) (placed, ok bool) {
	return !slices.ContainsFunc(s.m.unplaced, save.Post.SameFile), true
}

// machineStore is what such a process sees of its store.
type machineStore struct {
	*bridgetest.Store
	m *machine
}

func (s machineStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if err := s.m.step(); err != nil {
		return 0, err
	}
	return s.Store.Append(id, p, recs...)
}

func (s machineStore) Abort(id model.DocID, seq uint64) error {
	if err := s.m.step(); err != nil {
		return err
	}
	return s.Store.Abort(id, seq)
}

func (s machineStore) RecordSave(id model.DocID, seq uint64, save model.Save) error {
	if err := s.m.step(); err != nil {
		return err
	}
	return s.Store.RecordSave(id, seq, save)
}

func (s machineStore) RecordFileSeq(id model.DocID, seq uint64, sum model.ContentSum, file model.Stamp) {
	if s.m.step() == nil {
		s.Store.RecordFileSeq(id, seq, sum, file)
	}
}

func (m *machine) start(t testing.TB) *bridge.Workspace {
	t.Helper()
	return process(t, machineSource{m.src, m}, machineStore{m.store, m})
}

func textOf(t *testing.T, store model.Store, id model.DocID) string {
	t.Helper()
	h, err := store.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range h.Records {
		if err := doc.ApplyUpdate(rec.Update); err != nil {
			t.Fatal(err)
		}
	}
	return doc.Text("contents").String()
}

// scenario is something that a process does to a note, in which it may be killed.
type scenario struct {
	name   string
	before string                              // what people have in the note; "-" for no note
	setUp  func(*testing.T, *bridge.Workspace) // in an earlier process
	do     func(*testing.T, *bridge.Workspace) error
	want   string // what the file holds afterwards
}

var scenarios = []scenario{
	{
		name: "a write", before: "one two\nthree four\n",
		do: func(t *testing.T, ws *bridge.Workspace) error {
			_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one TWO\nthree four\nthree four 😀\n", By: ann})
			return err
		},
		want: "one {--two--}{++TWO++}\nthree four{++\nthree four 😀++}\n",
	},
	{
		name: "a later write", before: "one two\n",
		setUp: func(t *testing.T, ws *bridge.Workspace) {
			write(t, ws, plan, bridge.Write{Text: "one two\nthree\n", By: ann})
		},
		do: func(t *testing.T, ws *bridge.Workspace) error {
			_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one two\nthree\nfour\n", By: ann})
			return err
		},
		want: "one two{++\nthree\nfour++}\n",
	},
	{
		name: "two writes", before: "one two\n",
		do: func(t *testing.T, ws *bridge.Workspace) error {
			if _, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one two\nthree\n", By: ann}); err != nil {
				return err
			}
			_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one two\nthree\n\nfour\n", By: ann})
			return err
		},
		want: "one two{++\nthree++}{++\n\nfour++}\n",
	},
	{
		name: "a write into an empty note", before: "",
		do: func(t *testing.T, ws *bridge.Workspace) error {
			_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one\n", By: ann})
			return err
		},
		want: "{++one\n++}",
	},
	{
		name: "a creation", before: "-",
		do: func(t *testing.T, ws *bridge.Workspace) error {
			_, err := ws.Create(t.Context(), plan, bridge.Write{Text: "new\n\nmore\n", By: ann})
			return err
		},
		want: "{++new\n++}{++\nmore\n++}",
	},
	{
		name: "a decision", before: "one two\n",
		setUp: func(t *testing.T, ws *bridge.Workspace) {
			write(t, ws, plan, bridge.Write{Text: "one TWO\nthree\n", By: ann})
		},
		do: func(t *testing.T, ws *bridge.Workspace) error {
			out, err := ws.Decide(t.Context(), []string{pendingOf(t, ws)[0].ID}, model.Accepted, person)
			return errors.Join(err, out.Failed[plan])
		},
		want: "one TWO{++\nthree++}\n",
	},
	{
		name: "the first decision", before: "one {--two--}{++TWO++} {++three++}\n",
		do: func(t *testing.T, ws *bridge.Workspace) error {
			out, err := ws.Decide(t.Context(), []string{pendingOf(t, ws)[0].ID}, model.Rejected, person)
			return errors.Join(err, out.Failed[plan])
		},
		want: "one two {++three++}\n",
	},
	{
		name: "an undo", before: "one two\n",
		setUp: func(t *testing.T, ws *bridge.Workspace) {
			write(t, ws, plan, bridge.Write{Text: "one TWO\n", By: ann})
			decide(t, ws, model.Accepted, pendingOf(t, ws)[0].ID)
		},
		do: func(t *testing.T, ws *bridge.Workspace) error {
			out, err := ws.Undo(t.Context(), "", person)
			return errors.Join(err, out.Failed[plan])
		},
		want: "one {--two--}{++TWO++}\n",
	},
}

// Whenever a process is killed, the next one finds the note as it was before or as it is
// afterwards, whole, with the authors of what is pending; afterwards, if it was told so.
// File and document say the same, and a third process has nothing left to do.
func TestEveryKill(t *testing.T) {
	states := 0
	for _, sc := range scenarios {
		for killAt := 1; ; killAt++ {
			m := &machine{src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
			ended, before := m.run(t, sc, killAt)
			states++
			want := []string{before, sc.want}
			if sc.name == "two writes" {
				want = append(want, "one two{++\nthree++}\n")
			}
			if ended {
				want = want[1:2]
			}
			m.check(t, sc, killAt, want)
			if killAt > m.steps { // it was not killed
				break
			}
		}
	}
	t.Logf("%d states", states)
}

// A user who saves between the kill and the next start keeps every word. What the file
// had not got yet may come or not, what it had stays.
func TestEveryKillAndAPersonsSave(t *testing.T) {
	states := 0
	for _, sc := range scenarios {
		for killAt := 1; ; killAt++ {
			m := &machine{src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
			_, before := m.run(t, sc, killAt)
			states++
			oldText := before
			if has(m.src, "Plan.md") {
				oldText = m.src.Person(t).Content("Plan.md")
			}
			m.src.Person(t).Save("Plan.md", "typed\n"+strings.TrimPrefix(oldText, "-"))
			var want []string
			for _, text := range []string{oldText, before, sc.want, "one two{++\nthree++}\n"} {
				text = strings.TrimPrefix(text, "-")
				want = append(want, "typed\n"+text)
				if sc.before == "" || sc.before == "-" {
					want = append(want, text+"typed\n") // both at the beginning
				}
			}
			m.check(t, sc, killAt, want)
			if killAt > m.steps {
				break
			}
		}
	}
	t.Logf("%d states", states)
}

// A user who sets the file back to what it was before a write, by git or from a backup,
// has that: the write does not come again.
func TestEveryReturn(t *testing.T) {
	for _, sc := range scenarios {
		if sc.before == "-" {
			continue
		}
		m := &machine{src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
		_, before := m.run(t, sc, 1<<30)
		m.src.Person(t).Save("Plan.md", before)
		m.check(t, sc, 0, []string{before})
	}
}

func has(src *bridgetest.Source, rel string) bool {
	_, _, err := src.Read(context.Background(), rel)
	return err == nil
}

// run sets a scenario up and runs it in a process that is killed at a step of it. ended
// says that it was told that it has gone through.
func (m *machine) run(t *testing.T, sc scenario, killAt int) (ended bool, before string) {
	t.Helper()
	before = "-"
	if sc.before != "-" {
		m.src.Person(t).Save("Plan.md", sc.before)
	}
	if sc.setUp != nil {
		sc.setUp(t, m.start(t))
	}
	if sc.before != "-" {
		before = m.src.Person(t).Content("Plan.md")
	}
	ws := m.start(t)
	if sc.before != "-" {
		open(t, ws, plan)
	}
	m.steps, m.killAt = 0, killAt
	err := sc.do(t, ws)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("%s, killed at step %d: %v", sc.name, killAt, err)
	}
	m.killAt = 0
	if err != nil {
		m.killAt = killAt
	}
	return err == nil, before
}

// check starts two more processes, one after the other.
func (m *machine) check(t *testing.T, sc scenario, killAt int, want []string) {
	t.Helper()
	last := ""
	for i := range 2 {
		ws := process(t, survivor{m.src, m}, m.store)
		got := "-"
		if has(m.src, "Plan.md") {
			got = open(t, ws, plan).Raw()
			if file := m.src.Person(t).Content("Plan.md"); file != got {
				t.Errorf("%s, killed at step %d: the file holds %q, the note %q", sc.name, killAt, file, got)
			}
		}
		if i > 0 && got != last {
			t.Errorf("%s, killed at step %d: the second start makes %q of %q", sc.name, killAt, got, last)
		}
		last = got
		found := false
		for _, w := range want {
			found = found || w == got
		}
		if !found {
			t.Errorf("%s, killed at step %d: the note is %q, want one of %q", sc.name, killAt, got, want)
		}
		if got == "-" {
			continue
		}
		for _, s := range pendingOf(t, ws) {
			if s.Author != "ann" && !strings.Contains(sc.before, "{++") && killAt > 0 {
				t.Errorf("%s, killed at step %d: %q is %q's", sc.name, killAt, s.New, s.Author)
			}
		}
		if id, err := m.store.DocID("Plan.md"); err == nil && textOf(t, m.store, id) != got {
			t.Errorf("%s, killed at step %d: the document is %q, the file %q", sc.name, killAt, textOf(t, m.store, id), got)
		}
	}
}

// fullDisk takes no new content of a file.
type fullDisk struct{ survivor }

func (fullDisk) Replace(context.Context, string, model.Replacement) (model.Stamp, error) {
	return model.Stamp{}, model.ErrNoSpace
}

// A note whose file lacks what a crash has kept from it, and that cannot be written, can be read
// with it; whoever writes is told why not. The file gets it as soon as it can.
func TestRecoveryOnAFullDisk(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one two\n")
	m := &machine{src: src, store: store}
	ws := m.start(t)
	m.atExchange = true
	_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one TWO\n", By: ann})
	if !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if got := src.Person(t).Content("Plan.md"); got != "one two\n" {
		t.Fatalf("the file has %q already", got)
	}
	const want = "one {--two--}{++TWO++}\n"
	full := process(t, fullDisk{survivor{src, m}}, store)
	for range 2 {
		if got := open(t, full, plan).Raw(); got != want {
			t.Errorf("on a full disk the note is %q, want %q", got, want)
		}
		if _, err := full.Write(t.Context(), plan, bridge.Write{Text: "three\n", By: ann}); !errors.Is(err, model.ErrNoSpace) {
			t.Errorf("on a full disk Write = %v, want %v", err, model.ErrNoSpace)
		}
	}
	if got := open(t, process(t, survivor{src, m}, store), plan).Raw(); got != want {
		t.Errorf("then the note is %q, want %q", got, want)
	}
	if got := src.Person(t).Content("Plan.md"); got != want {
		t.Errorf("then the file has %q, want %q", got, want)
	}
}
