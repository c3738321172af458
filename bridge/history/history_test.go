package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const (
	id   = model.DocID("id")
	note = model.Path("Plan.md")
)

// state is the note after a record.
type state struct {
	seq    uint64
	time   time.Time
	author string
	text   string
}

// world is a store with one note, and what that was.
type world struct {
	t      testing.TB
	r      *rand.Rand
	path   string
	keep   time.Duration
	store  *store.Store
	doc    *ycrdt.Doc
	now    time.Time
	states []state
	moves  []model.Path
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() {
	var err error
	w.store, err = store.Open(w.path, store.Options{NoBackground: true, History: w.keep})
	w.check(err)
}

// edit has an author change the note, some times within a while.
func (w *world) edit(author string, times int, pause time.Duration) {
	for range times {
		w.now = w.now.Add(pause)
		rec := model.Record{Author: author, Time: w.now}
		w.doc.OnUpdate(func(u []byte) { rec.Update = u })
		text := w.doc.Text("contents")
		at := randomtest.Between(w.r, 0, text.Len())
		n := randomtest.Between(w.r, 0, min(6, text.Len()-at))
		w.doc.Transact(func(tx *ycrdt.Txn) {
			text.Delete(tx, at, n)
			text.Insert(tx, at, randomtest.Pick(w.r, "a", "some words ", "ü", "𝄞", "line\n"))
		})
		w.doc.OnUpdate(nil)
		if w.r.IntN(50) == 0 {
			again := ycrdt.NewDoc(ycrdt.Options{})
			w.check(again.ApplyUpdate(w.doc.EncodeStateAsUpdate(nil)))
			w.doc = again
		}
		seq, err := w.store.Append(id, w.moves[len(w.moves)-1], rec)
		w.check(err)
		w.states = append(w.states, state{seq, w.now, author, w.doc.Text("contents").String()})
	}
}

func (w *world) step() {
	switch w.r.IntN(10) {
	default:
		w.edit(randomtest.Pick(w.r, "", "claude", "codex"), randomtest.Between(w.r, 1, 40),
			time.Duration(randomtest.Between(w.r, 0, 90))*time.Second)
	case 7, 8:
		if len(w.states) > 0 {
			w.store.RecordFileSeq(id, w.states[len(w.states)-1].seq, model.ContentSum{}, model.Stamp{})
		}
		w.check(w.store.Checkpoint())
	case 9:
		if w.r.IntN(2) == 0 {
			w.check(w.store.Close())
			w.open()
		} else if len(w.states) > 0 {
			to := model.Path(fmt.Sprintf("Plan %d.md", len(w.moves)))
			w.check(w.store.Rename(w.moves[len(w.moves)-1], to))
			w.moves = append(w.moves, to)
		}
	}
}

func (w *world) history() *history.History {
	past, err := w.store.Revisions(id)
	w.check(err)
	h, err := history.New(past)
	w.check(err)
	return h
}

// as is the state that record seq led to.
func (w *world) as(seq uint64) state {
	i := slices.IndexFunc(w.states, func(s state) bool { return s.seq == seq })
	if i < 0 {
		w.t.Fatalf("there is an entry %d, and no such record", seq)
	}
	return w.states[i]
}

// wantEntries checks every entry: the text that it led to, and that what is in no entry of its
// own is of the same author and minute as the next one.
func (w *world) wantEntries(h *history.History) []history.Entry {
	entries := h.Entries()
	var plain []history.Entry
	var moved []model.Path
	for _, e := range entries {
		switch {
		case e.Kind == history.Moved:
			moved = append(moved, e.To)
		case !e.TextExpired:
			plain = append(plain, e)
		}
	}
	if !slices.Equal(moved, w.moves[1:]) {
		w.t.Fatalf("moved to %v, want %v", moved, w.moves[1:])
	}
	next := 0
	for _, s := range w.states {
		if len(plain) == 0 || s.seq < plain[0].Number && !w.groups(s, plain[0]) {
			continue // before the beginning
		}
		for plain[next].Number < s.seq {
			next++
		}
		if !w.groups(s, plain[next]) {
			w.t.Fatalf("record %d of %q at %v is told by entry %+v", s.seq, s.author, s.time, plain[next])
		}
	}
	for i, e := range plain {
		s := w.as(e.Number)
		got, at, err := h.At(history.Point{Entry: e.Number}, diffwrap.RawView)
		if err != nil || got != s.text || at.Number != e.Number {
			w.t.Fatalf("entry %d: %q, %v, %v, want %q", e.Number, got, at.Number, err, s.text)
		}
		if i+1 < len(plain) && plain[i+1].Time.Equal(e.Time) {
			continue
		}
		if got, _, err := h.At(history.Point{Time: e.Time}, diffwrap.RawView); err != nil || got != s.text {
			w.t.Fatalf("at %v: %q, %v, want %q", e.Time, got, err, s.text)
		}
		for _, piece := range e.Added {
			if !strings.Contains(s.text, piece) {
				w.t.Fatalf("entry %d added %q, which is not in %q", e.Number, piece, s.text)
			}
		}
	}
	return entries
}

// groups says whether an entry may tell of a record.
func (w *world) groups(s state, e history.Entry) bool {
	return s.seq <= e.Number && s.author == e.Author && s.time.Truncate(time.Minute).Equal(e.Time.Truncate(time.Minute))
}

func drawWorld(t testing.TB, r *rand.Rand, dir string) *world {
	w := &world{
		t: t, r: r, path: filepath.Join(dir, fmt.Sprint(time.Now().UnixNano()), "store.db"), doc: ycrdt.NewDoc(ycrdt.Options{}), moves: []model.Path{note},
		now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	return w
}

// Whatever is merged, and whenever a checkpoint is written: each entry's text is what the note was.
func TestHistory(t *testing.T) {
	dir := bridgetest.Scratch(t)
	randomtest.Check(t, 50, func(t testing.TB, r *rand.Rand) {
		w := drawWorld(t, r, dir)
		w.check(os.Mkdir(filepath.Dir(w.path), 0o700))
		w.open()
		defer func() { _ = w.store.Close() }()
		for range randomtest.Between(r, 1, 14) {
			w.step()
		}
		if len(w.states) == 0 {
			return
		}
		entries := w.wantEntries(w.history())
		if last := w.states[len(w.states)-1]; !slices.ContainsFunc(entries, func(e history.Entry) bool { return e.Number == last.seq }) {
			t.Fatalf("the newest record, %d, is in no entry", last.seq)
		}
	})
}

// What is older than the retention is not known, and everything since is. A text that is not
// in the oldest known state is gone from the disk.
func TestRetention(t *testing.T) {
	dir := bridgetest.Scratch(t)
	randomtest.Check(t, 50, func(t testing.TB, r *rand.Rand) {
		w := drawWorld(t, r, dir)
		w.keep, w.now = 48*time.Hour, time.Now().Add(-100*time.Hour)
		w.check(os.Mkdir(filepath.Dir(w.path), 0o700))
		w.open()
		defer func() { _ = w.store.Close() }()
		for time.Since(w.now) > time.Hour {
			w.edit("claude", randomtest.Between(r, 60, 90), time.Duration(randomtest.Between(r, 600, 2000))*time.Second)
			w.store.RecordFileSeq(id, w.states[len(w.states)-1].seq, model.ContentSum{}, model.Stamp{})
			w.check(w.store.Checkpoint())
		}
		h := w.history()
		lost, first := 0, time.Time{}
		for _, e := range w.wantEntries(h) {
			if e.TextExpired {
				lost++
			} else if first.IsZero() {
				first = e.Time
			}
		}
		if lost == 0 || time.Since(first) > 48*time.Hour+25*time.Hour {
			t.Fatalf("the history begins at %v, %d entries are lost; it was to begin 2 days ago", first, lost)
		}
		var unknown *history.UnknownError
		if _, _, err := h.At(history.Point{Time: w.states[0].time}, diffwrap.RawView); !errors.As(err, &unknown) {
			t.Fatalf("the first state: %v, want that it is not known", err)
		}
		there := time.FixedZone("", -9*60*60) // of the user who asks
		if _, _, err := h.At(history.Point{Time: w.states[0].time.In(there)}, diffwrap.RawView); strings.Count(fmt.Sprint(err), "-09:00") != 2 {
			t.Fatalf("the times are in another zone: %v", err)
		}
		load, err := w.store.Load(id)
		w.check(err)
		doc := ycrdt.NewDoc(ycrdt.Options{})
		for _, rec := range load.Records {
			w.check(doc.ApplyUpdate(rec.Update))
		}
		if got, want := doc.Text("contents").String(), w.states[len(w.states)-1].text; got != want {
			t.Fatalf("the note is %q, want %q", got, want)
		}
	})
}

// So goes the history of a note that does not change any more, however few changes it has. What waits for its file stays.
func TestExpire(t *testing.T) {
	dir := bridgetest.Scratch(t)
	randomtest.Check(t, 25, func(t testing.TB, r *rand.Rand) {
		w := drawWorld(t, r, dir)
		w.keep, w.now = 48*time.Hour, time.Now().Add(-120*time.Hour)
		w.check(os.Mkdir(filepath.Dir(w.path), 0o700))
		w.open()
		defer func() { _ = w.store.Close() }()
		insert := func(text string, del int) {
			rec := model.Record{Time: w.now}
			w.doc.OnUpdate(func(u []byte) { rec.Update = u })
			w.doc.Transact(func(tx *ycrdt.Txn) {
				w.doc.Text("contents").Delete(tx, 0, del)
				w.doc.Text("contents").Insert(tx, 0, text)
			})
			w.doc.OnUpdate(nil)
			seq, err := w.store.Append(id, note, rec)
			w.check(err)
			w.states = append(w.states, state{seq, w.now, "", w.doc.Text("contents").String()})
			w.now = w.now.Add(time.Minute)
		}
		const secret = "what was taken out again"
		insert(secret, 0)
		insert("", len(secret))
		w.edit(randomtest.Pick(r, "", "claude"), randomtest.Between(r, 0, 200), time.Minute)
		settled := w.states[len(w.states)-1]
		w.store.RecordFileSeq(id, settled.seq, model.ContentSum{}, model.Stamp{})
		unsettled := randomtest.Between(r, 0, 3)
		w.edit("claude", unsettled, time.Minute)
		w.check(w.store.Checkpoint())
		w.check(w.store.Expire())
		w.check(w.store.Expire()) // which finds nothing
		w.check(w.store.Check())

		h := w.history()
		var unknown *history.UnknownError
		if _, _, err := h.At(history.Point{Time: w.states[0].time}, diffwrap.RawView); !errors.As(err, &unknown) {
			t.Fatalf("the first state: %v, want that it is not known", err)
		}
		if got, _, err := h.At(history.Point{Entry: settled.seq}, diffwrap.RawView); err != nil || got != settled.text {
			t.Fatalf("the last settled state is %q, %v, want %q", got, err, settled.text)
		}
		last := w.states[len(w.states)-1]
		if got, _, err := h.At(history.Point{Time: time.Now()}, diffwrap.RawView); err != nil || got != last.text {
			t.Fatalf("the newest state is %q, %v, want %q", got, err, last.text)
		}
		load, err := w.store.Load(id)
		w.check(err)
		doc := ycrdt.NewDoc(ycrdt.Options{})
		for _, rec := range load.Records {
			w.check(doc.ApplyUpdate(rec.Update))
			if strings.Contains(string(rec.Update), secret) {
				t.Fatalf("what was taken out before the oldest known state is still there: record %d of %d, settled %d, unsettled %d", rec.Seq, len(load.Records), settled.seq, unsettled)
			}
		}
		if got := doc.Text("contents").String(); got != last.text {
			t.Fatalf("the note is %q, want %q", got, last.text)
		}
	})
}
