package store_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// oracle is a store in memory, as simple as can be.
type oracle struct {
	Docs      map[model.DocID]*oracleDoc
	Journal   []oracleEntry // oldest first
	Proposals map[string]model.ProposalRecord
	Unsent    map[model.DocID]uint64
	Sessions  map[string]string // their names
}

type oracleDoc struct {
	Path    model.Path
	Records []model.Record
	Mark    uint64
	Sum     model.ContentSum
}

type oracleEntry struct {
	ID    model.DocID
	Seq   uint64
	Batch string
}

func newOracle() *oracle {
	return &oracle{Docs: map[model.DocID]*oracleDoc{}, Proposals: map[string]model.ProposalRecord{}, Unsent: map[model.DocID]uint64{}, Sessions: map[string]string{}}
}

func (o *oracle) clone() *oracle {
	c := newOracle()
	for id, d := range o.Docs {
		copied := *d
		copied.Records = slices.Clone(d.Records)
		c.Docs[id] = &copied
	}
	c.Journal, c.Proposals, c.Unsent, c.Sessions = slices.Clone(o.Journal), maps.Clone(o.Proposals), maps.Clone(o.Unsent), maps.Clone(o.Sessions)
	return c
}

func (o *oracle) place(id model.DocID, p model.Path) {
	for _, d := range o.Docs {
		if d.Path == p {
			d.Path = ""
		}
	}
	o.Docs[id].Path = p
}

func (o *oracle) cut(id model.DocID, seq uint64) {
	d := o.Docs[id]
	if d == nil {
		return
	}
	o.Journal = slices.DeleteFunc(o.Journal, func(e oracleEntry) bool { return e.ID == id && e.Seq >= seq })
	d.Records = d.Records[:min(uint64(len(d.Records)), seq-1)]
	if len(d.Records) == 0 {
		delete(o.Docs, id)
		delete(o.Unsent, id)
	}
}

// answers are what a store says, as text, without a checkpoint and with one.
type answers struct{ live, all string }

var (
	ids   = []model.DocID{"one", "two", "three"}
	names = []string{"s1", "s2"} // of sessions
	paths = []model.Path{"a", "a/N.md", "a/b", "a/b/N.md", "b", "b/N.md", "N.md", "a.md"}
)

func (o *oracle) answers() (a answers) {
	var b strings.Builder
	for _, p := range paths {
		for id, d := range o.Docs {
			if d.Path == p {
				fmt.Fprintln(&b, p, id)
			}
		}
	}
	var unsettled []model.Path
	for _, id := range ids {
		d := o.Docs[id]
		if d == nil {
			d = &oracleDoc{}
		}
		writeHistory(&b, id, model.History{Records: d.Records, FileSeq: d.Mark, Sum: d.Sum})
		if d.Path != "" && uint64(len(d.Records)) > d.Mark {
			unsettled = append(unsettled, d.Path)
		}
	}
	slices.Sort(unsettled)
	fmt.Fprintln(&b, "unsettled", unsettled)
	for _, id := range names {
		fmt.Fprintln(&b, "session", id, o.Sessions[id])
	}
	a.live = b.String()
	b.Reset()
	for _, e := range slices.Backward(o.Journal) {
		p := model.Path("")
		if d := o.Docs[e.ID]; d != nil {
			p = d.Path
		}
		fmt.Fprintln(&b, "journal", e.ID, p, e.Seq, e.Batch)
	}
	for _, id := range slices.Sorted(maps.Keys(o.Proposals)) {
		fmt.Fprintln(&b, "proposal", id, o.Proposals[id].Rel)
	}
	fmt.Fprintln(&b, "unsent", o.Unsent)
	fmt.Fprintln(&b, "kept", slices.Sorted(maps.Keys(o.Docs)))
	a.all = b.String()
	return a
}

func writeHistory(b *strings.Builder, id model.DocID, h model.History) {
	for _, r := range h.Records {
		r.Unsent = false
		text, err := json.Marshal(r)
		fmt.Fprintf(b, "%s %d %s %q %v\n", id, r.Seq, text, r.Update, err)
	}
	fmt.Fprintln(b, id, h.FileSeq, h.Sum[:1])
}

// ask returns what a store says.
func ask(s *store.Store) (a answers, err error) {
	var b strings.Builder
	var errs []error
	for _, p := range paths {
		if id, err := s.DocID(p); err == nil {
			fmt.Fprintln(&b, p, id)
		} else if !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, id := range ids {
		h, err := s.Load(id)
		errs = append(errs, err)
		writeHistory(&b, id, h)
	}
	unsettled, err := s.Unsettled()
	errs = append(errs, err)
	slices.Sort(unsettled)
	fmt.Fprintln(&b, "unsettled", unsettled)
	for _, id := range names {
		fmt.Fprintln(&b, "session", id, s.SessionNote(id).Name)
	}
	a.live = b.String()
	return a, errors.Join(errs...)
}

// askAll also asks what the checkpoint alone answers.
func askAll(s *store.Store) (a answers, err error) {
	if a, err = ask(s); err != nil {
		return a, err
	}
	var b strings.Builder
	journal, err1 := s.Journal(1000)
	for _, e := range journal {
		fmt.Fprintln(&b, "journal", e.ID, e.Path, e.Seq, e.BatchOf())
	}
	for limit := 1; limit < len(journal); limit++ {
		if few, err := s.Journal(limit); err != nil || !reflect.DeepEqual(few, journal[:limit]) {
			err1 = errors.Join(err1, err, fmt.Errorf("the newest %d of %d entries are %+v", limit, len(journal), few))
		}
	}
	proposals, err2 := s.Proposals()
	slices.SortFunc(proposals, func(a, b model.ProposalRecord) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range proposals {
		fmt.Fprintln(&b, "proposal", p.ID, p.Rel)
	}
	unsent, err3 := s.Unsent()
	fmt.Fprintln(&b, "unsent", unsent)
	kept, err4 := s.DocIDs()
	slices.Sort(kept)
	fmt.Fprintln(&b, "kept", kept)
	a.all = b.String()
	again, err5 := ask(s) // now that the checkpoint has it
	if again.live != a.live {
		err5 = errors.Join(err5, fmt.Errorf("before a checkpoint the store says\n%safter it\n%s", a.live, again.live))
	}
	return a, errors.Join(err1, err2, err3, err4, err5, s.Check())
}

// session is a store on a simulated disk, and what it may say after a crash.
type session struct {
	rng     *rand.Rand
	s       *store.Store
	disk    *disktest.Disk
	file    *bridgetest.Checkpoint
	n       int       // of what has been written
	states  []*oracle // the last one is that of now, each other one that before a change
	told    int       // the first of them that a kill may leave: what it is of was acknowledged
	durable int       // the first of them that a power cut may leave
}

func (x *session) now() *oracle { return x.states[len(x.states)-1] }

// change makes the next state.
func (x *session) change(fn func(*oracle)) {
	next := x.now().clone()
	fn(next)
	x.states = append(x.states, next)
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// step tells the store one thing; before that it notes the state that follows. synced says that this outlives a power cut.
func (x *session) step() (synced bool, err error) {
	x.n++
	id, p := pick(x.rng, ids), pick(x.rng, paths)
	d, last := x.now().Docs[id], uint64(0)
	if d != nil {
		last = uint64(len(d.Records))
	}
	switch op := x.rng.IntN(20); {
	case op < 7:
		return x.append(id, p)
	case op < 9:
		seq := 1 + x.rng.Uint64N(last+2)
		if d != nil && seq <= d.Mark {
			seq = 1 // of what the file holds all is taken back or nothing
		}
		x.change(func(o *oracle) { o.cut(id, seq) })
		return true, x.s.Abort(id, seq)
	case op < 10:
		seq := 1 + x.rng.Uint64N(last+1)
		save := model.Save{Pre: model.Stamp{Inode: 1}, Post: model.Stamp{Inode: uint64(x.n)}, Sum: []byte{1}}
		x.change(func(o *oracle) {
			if seq <= last {
				o.Docs[id].Records[seq-1].Save = &save
			}
		})
		return false, x.s.RecordSave(id, seq, save)
	case op < 12:
		seq, sum := 1+x.rng.Uint64N(max(1, last)), model.ContentSum{byte(x.n)}
		x.change(func(o *oracle) {
			if d := o.Docs[id]; d != nil && seq >= d.Mark {
				d.Mark, d.Sum = seq, sum
			}
		})
		x.s.RecordFileSeq(id, seq, sum, model.Stamp{})
		return false, nil
	case op < 14:
		to := pick(x.rng, paths)
		return p != to, x.rename(p, to)
	case op < 15:
		x.change(func(o *oracle) { o.cut(id, 1) })
		return true, x.s.Abort(id, 1)
	case op < 16:
		return true, x.propose()
	case op < 17:
		seq := x.rng.Uint64N(last + 1)
		x.change(func(o *oracle) {
			if o.Unsent[id] <= seq {
				delete(o.Unsent, id)
			}
		})
		return false, x.s.Sent(id, seq)
	case op < 18:
		return true, x.s.Sync()
	case op < 19:
		return true, x.s.Checkpoint()
	}
	return x.look()
}

func (x *session) look() (synced bool, err error) {
	want := x.now().answers()
	a, err := ask(x.s)
	if err == nil && a.live != want.live {
		err = fmt.Errorf("the store says\n%swant\n%s", a.live, want.live)
	}
	return false, err
}

func (x *session) append(id model.DocID, p model.Path) (synced bool, err error) {
	recs := make([]model.Record, 1+x.rng.IntN(3))
	for i := range recs {
		r := &recs[i]
		r.Update, r.Author, r.Time = record(fmt.Sprintf("update %d.%d", x.n, i)).Update, pick(x.rng, []string{"", "ann"}), time.Unix(int64(x.n), 0).UTC()
		switch x.rng.IntN(8) {
		case 0, 1:
			r.Unsent, synced = true, true
		case 2:
			r.Decision, synced = &model.Decision{Batch: fmt.Sprint(x.n, ".", i)}, true
		case 3:
			r.Save = &model.Save{Post: model.Stamp{Size: int64(x.n)}}
		}
	}
	x.change(func(o *oracle) {
		if o.Docs[id] == nil {
			o.Docs[id] = &oracleDoc{}
		}
		d := o.Docs[id]
		o.place(id, p)
		for _, r := range recs {
			r.Seq = uint64(len(d.Records) + 1)
			d.Records = append(d.Records, r)
			if r.Unsent {
				o.Unsent[id] = r.Seq
			}
			if r.Journalled() {
				o.Journal = append(o.Journal, oracleEntry{id, r.Seq, r.Decision.Batch})
			}
		}
	})
	want := uint64(len(x.now().Docs[id].Records))
	seq, err := x.s.Append(id, p, recs...)
	if err == nil && seq != want {
		err = fmt.Errorf("append to %s: the last record is %d, want %d", id, seq, want)
	}
	return synced, err
}

func (x *session) rename(from, to model.Path) error {
	x.change(func(o *oracle) {
		moves := make(map[model.DocID]model.Path)
		for id, d := range o.Docs {
			if d.Path == from || strings.HasPrefix(string(d.Path), string(from)+"/") {
				moves[id] = to + d.Path[len(from):]
			}
		}
		for id := range moves {
			o.Docs[id].Path = ""
		}
		for id, p := range moves {
			o.place(id, p)
		}
	})
	return x.s.Rename(from, to)
}

func (x *session) propose() error {
	rec := model.ProposalRecord{ID: pick(x.rng, []string{"p", "q"}), Rel: fmt.Sprint(x.n)}
	drop := pick(x.rng, []string{"p", "q", "r"})
	batch := fmt.Sprint("proposal ", x.n)
	journal := []model.Record{{Decision: &model.Decision{Batch: batch}}}
	named := pick(x.rng, append(names, ""))
	if named != "" {
		journal = append(journal, model.Record{Session: named, Batch: "name " + batch, SessionNote: &model.SessionNote{Name: batch}})
	}
	x.change(func(o *oracle) {
		o.Proposals[rec.ID] = rec
		delete(o.Proposals, drop)
		o.Journal = append(o.Journal, oracleEntry{"", 0, batch})
		if named != "" {
			o.Journal = append(o.Journal, oracleEntry{"", 0, "name " + batch})
			o.Sessions[named] = batch
		}
	})
	return x.s.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{rec}, Removed: []string{drop}, Journal: journal})
}

// open starts a store on what a crash has left, and finds the state that it is in.
func (x *session) open(t testing.TB, d *disktest.Disk, content []byte) error {
	x.disk, x.file = d, bridgetest.NewCheckpoint(t, content)
	s, err := store.Open("/state/store.db", store.Options{Disk: d, OpenFile: x.file.OpenFile, Committed: x.file.Committed, NoBackground: true})
	if err != nil {
		return err
	}
	x.s = s
	got, err := askAll(s)
	if err != nil {
		return err
	}
	legal := x.states[x.durable:]
	i := slices.IndexFunc(legal, func(o *oracle) bool { return o.answers() == got })
	if i < 0 {
		want := legal[len(legal)-1].answers()
		return fmt.Errorf("the store says\n%s%sand that is none of %d legal states, the last of which is\n%s%s", got.live, got.all, len(legal), want.live, want.all)
	}
	x.states, x.told, x.durable = []*oracle{legal[i]}, 0, 0 // to ask for all of it has made it durable
	return nil
}

// crash is what a moment leaves behind.
type crash struct {
	disk    *disktest.Disk
	content []byte
}

// run does up to n steps, and stops before a call on the disk that is as far away as at.
func (x *session) run(n, at int) (c crash, err error) {
	stopped := errors.New("the machine has stopped")
	calls := 0
	x.disk.Before(func(disktest.Call) error {
		if calls++; calls < at {
			return nil
		}
		if calls == at {
			c = crash{x.disk.Killed(), x.file.Content()}
		}
		return stopped
	})
	for range n {
		synced, err := x.step()
		if err != nil && !errors.Is(err, stopped) {
			return c, err
		}
		if c.disk != nil { // Materialized returns no error
			break
		}
		x.told = len(x.states) - 1
		if synced {
			x.durable = x.told
		}
	}
	if c.disk == nil {
		c = crash{x.disk.Killed(), x.file.Content()}
	}
	_ = x.s.Close() // its calls fail, or are on a disk that is not used any more
	return c, nil
}

// Whatever a store is told, and wherever it is killed or its power is cut, it says what a simple model says after everything
// that was told, or after what was told until some moment that is no earlier than the last sync.
func TestModel(t *testing.T) {
	need.Plain(t)
	cuts := 0
	randomtest.Check(t, 30, func(t testing.TB, rng *rand.Rand) {
		x := &session{rng: rng, states: []*oracle{newOracle()}}
		d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: rng.IntN(2) == 0})
		state, err := d.MakeRoot("/state")
		root, err2 := d.OpenRoot("/")
		if err := errors.Join(err, err2, root.Sync(), state.Sync(), x.open(t, d, nil)); err != nil {
			t.Fatalf("%v", err)
		}
		for range 4 {
			c, err := x.run(5+rng.IntN(40), 1+rng.IntN(60))
			if err != nil {
				t.Fatalf("%v", err)
			}
			var left []*disktest.Disk
			if rng.IntN(2) == 0 {
				x.durable = x.told
				left = append(left, c.disk)
			} else {
				left = slices.Collect(c.disk.PowerCuts(6))
			}
			states, durable := x.states, x.durable
			rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			for i, d := range left { // goes on with the last one
				x.states, x.durable = states, durable
				if err := x.open(t, d, c.content); err != nil {
					t.Fatalf("%v", err)
				}
				cuts++
				if i < len(left)-1 {
					_ = x.s.Close()
				}
			}
		}
		_ = x.s.Close()
	})
	t.Logf("%d crashes", cuts)
}
