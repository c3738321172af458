package bridge_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
)

// process is a workspace over a source and a store that outlive it. It does not
// follow the source, as if everything happened while it was busy or down.
func process(t testing.TB, src model.Source, store model.Store) *bridge.Workspace {
	t.Helper()
	if s, ok := store.(interface{ Checkpoint() error }); ok { // as the process before did when it ended
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "Notes", Source: src, Store: store}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ws
}

// brokenStore fails to keep an author's write while broken is set, as a full
// disk does.
type brokenStore struct {
	*bridgetest.Store
	broken bool
}

func (s *brokenStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if s.broken && recs[len(recs)-1].Author != "" {
		return 0, model.ErrNoSpace
	}
	return s.Store.Append(id, p, recs...)
}

func pendingOf(t testing.TB, ws *bridge.Workspace) []model.Suggestion {
	t.Helper()
	list, err := ws.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRestartKeepsAuthors(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one two three\n")
	first := process(t, src, store)
	write(t, first, plan, bridge.Write{Text: "one TWO three\n", By: model.Author{Name: "ann", Session: "s"}})

	// Nobody follows the source while a user edits it.
	raw := src.Person(t).Content("Plan.md")
	src.Person(t).Save("Plan.md", "typed\n"+raw)

	second := process(t, src, store)
	if got := open(t, second, plan).Text(); got != "typed\none TWO three\n" {
		t.Errorf("view after a restart %q", got)
	}
	list := pendingOf(t, second)
	if len(list) != 1 || list[0].Author != "ann" || list[0].Session != "s" || list[0].Line != 2 {
		t.Errorf("suggestions after a restart: %+v", list)
	}
	write(t, second, plan, bridge.Write{Text: "typed\none TWO three four\n", By: model.Author{Name: "bob"}})
	if list := pendingOf(t, process(t, src, store)); len(list) != 2 || list[0].Author != "ann" || list[1].Author != "bob" {
		t.Errorf("suggestions after a second restart: %+v", list)
	}
}

// A write that a crash kept from the store is its writer's afterwards, all of it
// and nothing else, also where it says what the note says elsewhere: then the two
// texts alone do not tell which of the equal characters are the new ones.
func TestInterruptedWriteKeepsItsAuthor(t *testing.T) {
	const before = "one two\nthree four\n"
	for _, tt := range []struct{ first, then string }{
		{"one two\nthree four\nthree four\n", "three four\nthree four\n"},
		{"one two\none two\nthree four\n", "one two\nthree four\none two\nthree four\n"},
		{"w two\nthree four\n", "w w two\nthree four\n"},
		{"one 😀\nthree four\n", "one 😀 😀\nthree four\n"},
		{"", "one one 😀 two\nthree four\nthree four\n"}, // the first that the store hears of the note
		{"", "one 2\nfour\n"},
		{"", "three four\nthree four\n"},
	} {
		{
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			src.Person(t).Save("Plan.md", before)
			if tt.first != "" {
				write(t, process(t, src, store), plan, bridge.Write{Text: tt.first, By: ann})
			}
			killed(t, src, store, func(ws *bridge.Workspace) error {
				_, err := ws.Write(t.Context(), plan, bridge.Write{Text: tt.then, By: ann})
				return err
			})
			next := process(t, src, store)
			v := open(t, next, plan)
			if v.Text() != tt.then {
				t.Errorf("view after the restart %q, want %q", v.Text(), tt.then)
			}
			for _, s := range pendingOf(t, next) {
				if s.Author != "ann" {
					t.Errorf("%q: suggestion of %q after the restart: %+v", v.Raw(), s.Author, s)
				}
			}
			if _, err := next.Write(t.Context(), plan, bridge.Write{Text: before, By: model.Author{Name: "bob"}}); !errors.Is(err, model.ErrRefused) {
				t.Errorf("%q: bob takes back what ann wrote: %v", v.Raw(), err)
			}
			write(t, next, plan, bridge.Write{Text: "", By: ann})
			if got := diffwrap.Original(src.Person(t).Content("Plan.md")); got != before {
				t.Errorf("%q: ann deletes everything: without her suggestions it is %q", v.Raw(), got)
			}
			write(t, next, plan, bridge.Write{Text: before, By: ann})
			if got := src.Person(t).Content("Plan.md"); got != before {
				t.Errorf("%q: ann takes it all back: %q", v.Raw(), got)
			}
		}
	}
}

// The first decision on a note is kept together with the note's beginning, also
// when a user's save comes in between.
func TestFirstDecision(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one {--two--}{++TWO++}\n")
	ws := process(t, src, store)
	list := pendingOf(t, ws)
	typed := "typed\none {--two--}{++TWO++}\n"
	src.Person(t).Save("Plan.md", typed) // nobody follows: the decision comes upon it
	decide(t, ws, model.Accepted, list[0].ID)
	if got, want := src.Person(t).Content("Plan.md"), "typed\none TWO\n"; got != want {
		t.Errorf("decided: %q, want %q", got, want)
	}
	id, err := store.DocID("Plan.md")
	if err != nil {
		t.Fatal(err)
	}
	h, err := store.Load(id)
	if n := len(h.Records); err != nil || n < 2 || h.Records[0].Decision != nil || h.Records[n-1].Decision == nil {
		t.Errorf("history %+v, %v; want the note's beginning first and the decision last", h.Records, err)
	}
	undo(t, process(t, src, store), "")
	if got := src.Person(t).Content("Plan.md"); got != typed {
		t.Errorf("undone: %q, want %q", got, typed)
	}
}

// A decision that is interrupted between file and store is in the journal of the
// next process, which can undo it: the first one on a note and a later one.
func TestInterruptedDecisionIsUndone(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one {--two--}{++TWO++} {++three++} 😀")
	for _, verdict := range []model.Verdict{model.Rejected, model.Accepted} {
		before := src.Person(t).Content("Plan.md")
		killed(t, src, store, func(ws *bridge.Workspace) error {
			out, err := ws.Decide(t.Context(), []string{pendingOf(t, ws)[0].ID}, verdict, model.Author{Name: "pat", Reason: "because"})
			return errors.Join(err, out.Failed[plan])
		})
		next := process(t, src, store)
		decided := open(t, next, plan).Raw()
		undone := undo(t, next, "")
		if got := src.Person(t).Content("Plan.md"); got != before || undone.Notes != 1 {
			t.Errorf("%s and undone: %q, want %q", verdict, got, before)
		}
		entries, err := next.Journal(2)
		if err != nil || len(entries) != 2 {
			t.Fatalf("journal %+v, %v", entries, err)
		}
		d := entries[1].Decision
		if d.Batch == "" || d.Verdict != verdict || d.By != "pat" || d.Reason != "because" || len(d.Items) != 1 || len(d.Runs) != 2 {
			t.Errorf("journalled decision %+v", d)
		}
		// The same text once more is a user's own, not that decision again.
		src.Person(t).Save("Plan.md", decided)
		last := process(t, src, store)
		pendingOf(t, last)
		if again, err := last.Journal(3); err != nil || again[0].Decision.Verdict != model.Undone {
			t.Errorf("a person's save came into the journal: %+v, %v", again, err)
		}
		src.Person(t).Save("Plan.md", before)
	}
}

// A write that the store cannot keep is taken out of the file again.
func TestFullStoreLeavesTheNoteAsItWas(t *testing.T) {
	src, store := bridgetest.NewSource(t), &brokenStore{Store: bridgetest.NewStore(t)}
	src.Person(t).Save("Plan.md", "one two three\n")
	ws := process(t, src, store)
	before := write(t, ws, plan, bridge.Write{Text: "one TWO three\n", By: ann}).Version
	store.broken = true
	_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one TWO three four\n", By: ann})
	if !errors.Is(err, model.ErrNoSpace) {
		t.Fatalf("write with a full disk: %v", err)
	}
	if got := src.Person(t).Content("Plan.md"); got != before.Raw() || open(t, ws, plan) != before {
		t.Errorf("file %q, want it as before, %q", got, before.Raw())
	}
	store.broken = false
	write(t, ws, plan, bridge.Write{Text: "one TWO three four\n", By: ann})
	if got, want := src.Person(t).Content("Plan.md"), "one {--two--}{++TWO++} three{++ four++}\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
}

func TestMarksThatMakeANoteTooLarge(t *testing.T) {
	need.Plain(t)
	line := func(letter string) string { return strings.Repeat(letter, 1<<20) + "\n" } // long words take little time
	f := bridgetest.New(t, map[string]string{plan: strings.Repeat(line("a"), 9)})
	before := open(t, f.Workspace, plan)
	_, err := f.Write(t.Context(), plan, bridge.Write{Text: strings.Repeat(line("b"), 9), By: ann})
	if !errors.Is(err, model.ErrTooLarge) || open(t, f.Workspace, plan) != before {
		t.Errorf("rewrite of 9 MiB: %v, want ErrTooLarge and the note as it was", err)
	}
}

// A note that the store cannot keep is not made, and can be made once it can.
func TestCreateThatTheStoreCannotKeep(t *testing.T) {
	src, store := bridgetest.NewSource(t), &brokenStore{Store: bridgetest.NewStore(t), broken: true}
	ws := process(t, src, store)
	var events []model.Event
	defer ws.Subscribe(func(ev model.Event) { events = append(events, ev) })()
	if _, err := ws.Create(t.Context(), plan, bridge.Write{Text: "new\n", By: ann}); !errors.Is(err, model.ErrNoSpace) {
		t.Fatalf("creation with a full disk: %v", err)
	}
	if _, err := ws.Stat(t.Context(), plan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note after the failure: %v", err)
	}
	if _, _, err := src.Read(t.Context(), "Plan.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its file after the failure: %v", err)
	}
	if len(events) > 0 {
		t.Errorf("events of what did not happen: %+v", events)
	}
	store.broken = false
	if _, err := ws.Create(t.Context(), plan, bridge.Write{Text: "new\n", By: ann}); err != nil {
		t.Fatal(err)
	}
	for name, ws := range map[string]*bridge.Workspace{"the same process": ws, "the next process": process(t, src, store)} {
		if list := pendingOf(t, ws); len(list) != 1 || list[0].Author != "ann" {
			t.Errorf("suggestions of %s: %+v", name, list)
		}
	}
}

// An undo that is interrupted between file and store has put each text where it was in
// the document, too: what is undone after it stands next to it in the order that it
// had, and is whose it was.
func TestInterruptedUndo(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "l r\n")
	ws := process(t, src, store)
	write(t, ws, plan, bridge.Write{Text: "l X r\n", By: ann})
	write(t, ws, plan, bridge.Write{Text: "l X Y r\n", By: model.Author{Name: "bob"}})
	list := pendingOf(t, ws)
	first := decide(t, ws, model.Rejected, list[0].ID)
	second := decide(t, ws, model.Rejected, list[1].ID)
	killed(t, src, store, func(ws *bridge.Workspace) error {
		out, err := ws.Undo(t.Context(), first.Batch, person)
		return errors.Join(err, out.Failed[plan])
	})
	next := process(t, src, store)
	if got, want := open(t, next, plan).Raw(), "l {++X ++}r\n"; got != want {
		t.Errorf("the next process shows %q, want %q", got, want)
	}
	undo(t, next, second.Batch)
	if got, want := src.Person(t).Content("Plan.md"), "l {++X ++}{++Y ++}r\n"; got != want {
		t.Errorf("both undone: %q, want %q", got, want)
	}
	again := pendingOf(t, process(t, src, store))
	for i := range again {
		again[i].Start, again[i].End = list[i].Start, list[i].End
	}
	if !slices.EqualFunc(again, list, func(a, b model.Suggestion) bool {
		return a.ID == b.ID && a.Author == b.Author && a.Time.Equal(b.Time) && a.New == b.New
	}) {
		t.Errorf("pending again %+v, want %+v", again, list)
	}
	if journal, err := next.Journal(9); err != nil || len(journal) != 4 {
		t.Errorf("journal %+v, %v", journal, err)
	}
}
