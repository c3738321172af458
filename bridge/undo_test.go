package bridge_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The links of a rename are decided on with it, also after an undo brought both
// back, in whatever order.
func TestLinksStayWithARenameOverUndo(t *testing.T) {
	const c, c2, links = "Notes/c.md", "Notes/c2.md", "Notes/f.md"
	for _, restart := range []bool{false, true} {
		for order := range 1 << 3 {
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			src.Person(t).Save("c.md", "c\n")
			src.Person(t).Save("f.md", "f [[c]] end\n")
			ws := process(t, src, store)
			write(t, ws, links, bridge.Write{Text: "f [[c]] END\n", By: ann})
			moveTo(t, ws, c, c2)
			const marked = "f {--[[c]]--}{++[[c2]]++} {--end--}{++END++}\n"
			want := map[model.Verdict]string{
				model.Accepted: "f [[c2]] {--end--}{++END++}\n",
				model.Rejected: "f [[c]] {--end--}{++END++}\n",
			}
			for i := range 3 {
				verdict := model.Accepted
				if order>>i&1 == 1 {
					verdict = model.Rejected
				}
				when := fmt.Sprintf("restart %v, order %03b, %s at %d", restart, order, verdict, i)
				if got := src.Person(t).Content("f.md"); got != marked {
					t.Fatalf("%s: before it %q, want %q", when, got, marked)
				}
				decideAll(t, ws, verdict)
				if got := src.Person(t).Content("f.md"); got != want[verdict] {
					t.Fatalf("%s: %q, want %q", when, got, want[verdict])
				}
				undo(t, ws, "")
				if restart {
					ws = process(t, src, store)
				}
			}
		}
	}
}

// What one undo puts back of several authors, and of a rename, is each one's again.
func TestUndoKeepsWhoseEachSuggestionWas(t *testing.T) {
	const text = "one [[c]] two\nthree\n"
	f := bridgetest.New(t, map[string]string{"Notes/c.md": "c\n", plan: text})
	keepsWhose(t, f.Workspace, "Notes", func() string { return f.SourceText(plan) })
	f, _ = openLive(t, map[string]string{"c.md": "c\n", "Plan.md": text})
	keepsWhose(t, f.Workspace, "Team", func() string { return open(t, f.Workspace, "Team/Plan.md").Raw() })
}

func keepsWhose(t *testing.T, ws *bridge.Workspace, folder model.Path, raw func() string) {
	t.Helper()
	note := folder.Join("Plan.md")
	write(t, ws, note, bridge.Write{Text: "ONE [[c]] two\nthree\n", By: ann})
	write(t, ws, note, bridge.Write{Text: "ONE [[c]] two\nTHREE\n", By: model.Author{Name: "bob", Session: "s2"}})
	moveTo(t, ws, folder.Join("c.md"), folder.Join("c2.md"))
	before := pendingOf(t, ws)
	proposals, err := ws.Proposals(t.Context(), "")
	if err != nil || len(proposals) != 1 || len(before) != 3 || before[1].Proposal != proposals[0].ID {
		t.Fatalf("%+v, %v, pending %+v", proposals, err, before)
	}
	for _, verdict := range []model.Verdict{model.Rejected, model.Accepted} {
		decide(t, ws, verdict, append(ids(pendingOf(t, ws)), proposals[0].ID)...)
		undo(t, ws, "")
		after := pendingOf(t, ws)
		if len(after) != len(before) {
			t.Fatalf("%s in %s and undone: %+v", verdict, folder, after)
		}
		for i, s := range after {
			if b := before[i]; s.Author != b.Author || s.Session != b.Session || s.Proposal != b.Proposal || s.New != b.New {
				t.Errorf("%s in %s and undone: %+v, want %+v", verdict, folder, s, b)
			}
		}
	}
	write(t, ws, note, bridge.Write{Text: "ONE, [[c2]] two\nTHREE\n", By: ann}) // her own is amended
	decideAll(t, ws, model.Rejected)
	if got, want := raw(), "{--one--}{++ONE,++} [[c]] two\n{--three--}{++THREE++}\n"; got != want {
		t.Errorf("in %s after the rename was rejected: %q, want %q", folder, got, want)
	}
}

// A proposal that gave way to a user's change was decided by nobody: it is not
// what an undo takes back unless it is named.
func TestUndoSkipsWhatGaveWay(t *testing.T) {
	for _, restart := range []bool{false, true} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		src.Person(t).Save("b.md", "b\n")
		ws := process(t, src, store)
		write(t, ws, plan, bridge.Write{Text: "ONE\n", By: ann})
		pending := src.Person(t).Content("Plan.md")
		decide(t, ws, model.Accepted, ids(pendingOf(t, ws))...)
		moveTo(t, ws, "Notes/b.md", "Notes/b2.md")
		if restart {
			src.Person(t).Remove("b.md")
			ws = process(t, src, store)
		} else {
			go ws.Run(t.Context())
			src.Person(t).Remove("b.md")
			if err := src.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		journal, err := ws.Journal(9)
		if err != nil || len(journal) != 2 || journal[0].Decision.Proposal == nil || !journal[0].Decision.Withdrawn {
			t.Fatalf("restart %v: journal %+v, %v", restart, journal, err)
		}
		undo(t, ws, "")
		if got := src.Person(t).Content("Plan.md"); got != pending {
			t.Errorf("restart %v: after undo %q, want %q", restart, got, pending)
		}
		if _, err := ws.Undo(t.Context(), "", person); !errors.Is(err, bridge.ErrNothingToUndo) {
			t.Errorf("restart %v: undo once more: %v", restart, err)
		}
		if out, err := ws.Undo(t.Context(), journal[0].BatchOf(), person); err != nil || len(out.Failed) != 1 {
			t.Errorf("restart %v: undo of what gave way, by its name: %+v, %v", restart, out, err)
		}
	}
}

// An agent that takes its own rename back decides nothing that an undo takes back.
func TestUndoSkipsWhatAgentsTookBack(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/c.md": "c\n", "Notes/f.md": "[[c]]\n", plan: "one\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\n", By: ann})
	pending := f.SourceText(plan)
	decide(t, f.Workspace, model.Rejected, ids(pendingOf(t, f.Workspace))...)
	moveTo(t, f.Workspace, "Notes/c.md", "Notes/c2.md")
	moveTo(t, f.Workspace, "Notes/c2.md", "Notes/c.md")
	propose(t, f.Workspace, canvas, "{}")
	if _, err := f.Remove(t.Context(), canvas, bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	undo(t, f.Workspace, "")
	if got, link := f.SourceText(plan), f.SourceText("Notes/f.md"); got != pending || link != "[[c]]\n" {
		t.Errorf("after undo %q and %q, want %q", got, link, pending)
	}
}

// A decision that cannot be undone any more is not the end of undo.
func TestUndoNamesTheWayOn(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/b.md": "b\n", plan: "one\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\n", By: ann})
	older := decide(t, f.Workspace, model.Accepted, ids(pendingOf(t, f.Workspace))...)
	moveTo(t, f.Workspace, "Notes/b.md", "Notes/b2.md")
	newest := decideAll(t, f.Workspace, model.Rejected)
	f.Delete("Notes/b.md")
	for range 2 {
		out, err := f.Undo(t.Context(), "", person)
		if err != nil || len(out.Failed) != 1 || out.Older != older.Batch {
			t.Errorf("%+v, %v, want the way on to %s", out, err, older.Batch)
		}
	}
	if out, err := f.Undo(t.Context(), newest.Batch, person); err != nil || len(out.Failed) != 1 || out.Older != older.Batch {
		t.Errorf("by its name: %+v, %v, want the way on to %s", out, err, older.Batch)
	}
	if out := undo(t, f.Workspace, older.Batch); out.Older != "" {
		t.Errorf("an undo that succeeds names a way on: %+v", out)
	}
	if out, err := f.Undo(t.Context(), "", person); err != nil || len(out.Failed) != 1 || out.Older != "" {
		t.Errorf("with nothing older left: %+v, %v", out, err)
	}
}

// Where the deletion of a note is proposed, people still have the note: what was decided
// there is undone, also if something else is shown at its path.
func TestUndoInANoteWhoseDeletionIsProposed(t *testing.T) {
	for name, tt := range map[string]struct {
		folder  model.Path
		live    bool
		instead bool
	}{
		"file":                    {folder: "Notes"},
		"file, another one shown": {folder: "Notes", instead: true},
		"live":                    {folder: "Team", live: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "a b c\n", tt.live)
			agentWrites("ann", "a X c\n")(d)
			accepts(0)(d)
			if _, err := d.f.Remove(t.Context(), d.note, bridge.ChangeRequest{Author: agent}); err != nil {
				t.Fatal(err)
			}
			if tt.instead {
				d.f.Person("Notes/Other.md", "other\n")
				moveTo(t, d.f.Workspace, "Notes/Other.md", d.note)
			}
			out := undo(t, d.f.Workspace, d.batches[0])
			if len(out.Failed) > 0 || out.Notes != 1 || len(out.Decided) != 1 {
				t.Fatalf("%+v", out)
			}
			if tt.instead {
				if got := d.raw(); got != "other\n" {
					t.Errorf("the other note says %q", got)
				}
				return
			}
			if _, err := d.f.Stat(t.Context(), d.note); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the note is shown: %v", err)
			}
			if list := pendingOf(t, d.f.Workspace); len(list) > 0 {
				t.Errorf("what is not shown waits: %+v", list)
			}
			decideAll(t, d.f.Workspace, model.Rejected)
			if list := pendingOf(t, d.f.Workspace); len(list) != 1 || list[0].Old != "b" || list[0].New != "X" {
				t.Errorf("the note stays, and pending is %+v", list)
			}
			says("a {--b--}{++X++} c\n")(d)
		})
	}
}

// Where the note is gone, an undo says so and what to do.
func TestUndoInANoteThatIsGone(t *testing.T) {
	for _, remade := range []bool{false, true} {
		d := newDesk(t, "a b c\n", false)
		agentWrites("ann", "a X c\n")(d)
		accepts(0)(d)
		if _, err := d.f.Remove(t.Context(), plan, bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		deleted := decideAll(t, d.f.Workspace, model.Accepted)
		if remade {
			if _, err := d.f.Create(t.Context(), plan, bridge.Write{Text: "new\n", By: agent}); err != nil {
				t.Fatal(err)
			}
		}
		want := "restore it first with 'relayfs suggestions undo " + deleted.Proposals[0].ID + "'"
		undoes(0)(d)
		if d.refused == nil || !strings.Contains(d.refused.Error(), want) {
			t.Errorf("another at its path %v: %v, want %q", remade, d.refused, want)
		}
		if remade {
			continue
		}
		undo(t, d.f.Workspace, deleted.Batch)
		undoes(0)(d)
		if d.refused != nil {
			t.Error(d.refused)
		}
		decideAll(t, d.f.Workspace, model.Rejected)
		says("a {--b--}{++X++} c\n")(d)
		accepts(0)(d)
		d.f.Delete(string(plan))
		undoes(1)(d)
		if want := "the note no longer exists; its text is in 'relayfs suggestions log --json'"; d.refused == nil || !strings.Contains(d.refused.Error(), want) {
			t.Errorf("%v, want %q", d.refused, want)
		}
	}
}

// A note that was deleted comes back with its authors, also if another note got its name
// meanwhile.
func TestUndoOfADeletionUnderATakenName(t *testing.T) {
	for _, restart := range []bool{false, true} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("b.md", "b\n")
		ws := process(t, src, store)
		if _, err := ws.Create(t.Context(), "Notes/A.md", bridge.Write{Text: "a word\n", By: ann}); err != nil {
			t.Fatal(err)
		}
		before := pendingOf(t, ws)
		if _, err := ws.Rename(t.Context(), "Notes/b.md", "Notes/A.md", bridge.ChangeRequest{Author: agent, Replace: true}); err != nil {
			t.Fatal(err)
		}
		decideAll(t, ws, model.Accepted)
		if restart {
			ws = process(t, src, store)
		}
		if got := open(t, ws, "Notes/A.md").Raw(); got != "b\n" {
			t.Fatalf("restart %v: %q has the name, want %q", restart, got, "b\n")
		}
		undo(t, ws, "")
		decideAll(t, ws, model.Rejected)
		after := pendingOf(t, ws)
		if len(before) != 1 || len(after) != 1 || after[0].Path != before[0].Path || after[0].Author != "ann" || after[0].ID != before[0].ID {
			t.Errorf("restart %v: pending %+v, want %+v", restart, after, before)
		}
	}
}

// One undo takes back the front matter that one call changed, in all its notes.
func TestUndoOfABatchOfFrontMatter(t *testing.T) {
	const other = "Notes/Other.md"
	f := bridgetest.New(t, map[string]string{plan: "---\na: 1\n---\nP.\n", other: "---\na: 2\n---\nO.\n"})
	author := ann
	author.Batch = model.NewBatch()
	write(t, f.Workspace, plan, bridge.Write{Text: "---\na: 9\n---\nP.\n", By: author})
	write(t, f.Workspace, other, bridge.Write{Text: "---\na: 9\n---\nO.\n", By: author})
	write(t, f.Workspace, other, bridge.Write{Text: "---\na: 9\nb: 1\n---\nO.\n", By: author})
	undo(t, f.Workspace, "")
	for p, want := range map[string]string{plan: "---\na: 1\n---\nP.\n", other: "---\na: 2\n---\nO.\n"} {
		if got := f.SourceText(p); got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
	if _, err := f.Undo(t.Context(), author.Batch, person); !errors.Is(err, bridge.ErrNothingToUndo) {
		t.Errorf("undone twice: %v", err)
	}
}

// All that a session did goes: suggestions, renames with their links, new notes, and front matter.
func TestUndoSession(t *testing.T) {
	const a, b = "Notes/a.md", "Notes/b.md"
	files := map[string]string{a: "---\nk: 1\n---\nOne.\n", b: "See [[a]].\n"}
	f := bridgetest.New(t, files)
	bob := model.Author{Name: "bob", Session: "s9"}
	write(t, f.Workspace, b, bridge.Write{Text: "See [[a]]. Bob.\n", By: bob})
	bobs := f.SourceText(b)
	write(t, f.Workspace, a, bridge.Write{Text: "---\nk: 2\n---\nTwo.\n", By: ann})
	if _, err := f.Workspace.Rename(t.Context(), a, "Notes/c.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	write(t, f.Workspace, "Notes/c.md", bridge.Write{Text: "---\nk: 3\n---\nTwo.\n", By: ann})
	if _, err := f.Workspace.Create(t.Context(), "Notes/new.md", bridge.Write{Text: "New.\n", By: ann}); err != nil {
		t.Fatal(err)
	}
	out, err := f.UndoSession(t.Context(), ann.Session, person)
	if err != nil || len(out.Failed) > 0 {
		t.Fatalf("%v, %v", err, out.Failed)
	}
	if out.Notes != 3 { // the one that was renamed, with its front matter, the one that links to it, and the new one
		t.Errorf("undone in %d notes: %+v", out.Notes, out)
	}
	if got := f.SourceText(a); got != files[a] {
		t.Errorf("%s is %q, want %q", a, got, files[a])
	}
	if got := f.SourceText(b); got != bobs {
		t.Errorf("%s is %q, want bob's %q", b, got, bobs)
	}
	if _, err := f.Open(t.Context(), "Notes/new.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the new note stays: %v", err)
	}
	if list, err := f.Proposals(t.Context(), ""); err != nil || len(list) > 0 {
		t.Errorf("proposals %v, %v", list, err)
	}
	if _, err := f.UndoSession(t.Context(), ann.Session, person); !errors.Is(err, bridge.ErrNothingToUndo) {
		t.Errorf("undone twice: %v", err)
	}
}

// A user restores a rejected suggestion and deletes it again. Undo leaves it deleted, also if the store has merged earlier changes.
func TestUndoOfWhatAUserDeletedAfterACompaction(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		r := newReturning(t, "o1 o2\n")
		if compacted {
			r.stop()
			r.store = bridgetest.NewMergingStore(t)
			r.start()
		}
		r.writes("a", "o1 a1 o2\n")
		r.decides(model.Accepted)
		for i := range 9 {
			r.saves(fmt.Sprintf("o1 a1 o2\np%d\n", i))
		}
		if compacted {
			r.stop()
			if err := r.store.Checkpoint(); err != nil {
				t.Fatal(err)
			}
			r.start()
		}
		r.writes("a", "o1 a1 a2 o2\np8\n")
		marked := r.note().Raw()
		r.decides(model.Rejected)
		plain := r.note().Raw()
		r.saves(marked)
		r.saves(plain)
		r.undoes()
		if got := r.note().Raw(); got != plain {
			t.Errorf("compacted %v: the undo made it %q, want %q", compacted, got, plain)
		}
		r.stop()
	}
}

// Another machine has written in a shared note. A second rejection of a suggestion can be undone like the first one.
func TestUndoTwiceInASharedNote(t *testing.T) {
	f, live := openLive(t, map[string]string{"N.md": "one two\n"})
	err := live.Peer("N.md", func(doc *ycrdt.Doc) {
		other := ycrdt.NewDoc(ycrdt.Options{})
		if err := other.ApplyUpdate(doc.EncodeStateAsUpdate(nil)); err != nil {
			t.Fatal(err)
		}
		for range 9 {
			rec := model.Record{Author: "other", Time: time.Now(), Client: uint64(other.ClientID()), Clock: other.StateVector()[other.ClientID()], Len: 2}
			other.Transact(func(tx *ycrdt.Txn) { other.Text(model.ContentsName).Insert(tx, 0, "x ") })
			facts.Put(other, &rec)
		}
		if err := doc.ApplyUpdate(other.EncodeStateAsUpdate(nil)); err != nil {
			t.Fatal(err)
		}
	})
	if err == nil {
		err = live.Settle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	const note = "Team/N.md"
	write(t, f.Workspace, note, bridge.Write{Text: strings.Replace(open(t, f.Workspace, note).Text(), "two", "TWO", 1), By: ann})
	before := open(t, f.Workspace, note).Raw()
	for range 2 {
		decide(t, f.Workspace, model.Rejected, ids(pendingOf(t, f.Workspace))...)
		undo(t, f.Workspace, "")
		if got := open(t, f.Workspace, note).Raw(); got != before {
			t.Errorf("the undo made it %q, want %q", got, before)
		}
	}
}
