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
)

// rejectAll rejects what is pending in the note at p, one after the other.
func rejectAll(t *testing.T, ws *bridge.Workspace, p model.Path) {
	t.Helper()
	for {
		list, err := ws.Suggestions(t.Context(), p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		decide(t, ws, model.Rejected, list[0].ID)
	}
}

// A note that an agent made goes when a user rejects all of it, with the folders
// that were made for it, and stays where anybody else had to do with it.
func TestRejectedNoteGoes(t *testing.T) {
	const made = model.Path("Notes/New/Deep/Made.md")
	for _, tt := range []struct {
		name string
		then func(a worker)
		want string // what people have besides
	}{
		{"nothing else", func(worker) {}, ""},
		{"more by another agent", func(a worker) { a.must(a.write(made, "made\n\nmore\nagain\n", "bob")) }, ""},
		{"an empty beginning", func(a worker) {
			a.create("Notes/New/Deep/Empty.md", "")
			a.must(a.write("Notes/New/Deep/Empty.md", "text\n", "ann"))
			rejectAll(a.t, a.Workspace, "Notes/New/Deep/Empty.md")
		}, ""},
		{"a decision taken back", func(a worker) {
			decide(a.t, a.Workspace, model.Accepted, pendingOf(a.t, a.Workspace)[0].ID)
			undo(a.t, a.Workspace, "")
		}, ""},
		{"a person's text", func(a worker) { a.Person(string(made), "typed\n"+a.SourceText(string(made))) }, "New New/Deep New/Deep/Made.md"},
		{"a person's text that is gone", func(a worker) {
			raw := a.SourceText(string(made))
			a.Person(string(made), "typed\n"+raw)
			open(a.t, a.Workspace, made)
			a.Person(string(made), raw)
		}, "New New/Deep New/Deep/Made.md"},
		{"front matter", func(a worker) { a.must(a.write(made, "---\na: 1\n---\nmade\n", "ann")) }, ""},
		{"a person's property", func(a worker) { a.Person(string(made), "---\na: 1\n---\n"+a.SourceText(string(made))) }, "New New/Deep New/Deep/Made.md"},
		{"a person's note in the folder", func(a worker) { a.Person("Notes/New/Hers.md", "hers\n") }, "New New/Hers.md"},
		{"a new name", func(a worker) {
			a.as(model.Author{Name: "bob"}).move(made, "Notes/New/Deep/Moved.md")
		}, "New New/Deep New/Deep/Made.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{"Notes/Here.md": "here\n"})
			a := worker{f, t, ann}
			a.mkdir("Notes/New", "Notes/New/Deep")
			a.create(made, "made\n\nmore\n")
			tt.then(a)
			for _, p := range []model.Path{made, "Notes/New/Deep/Moved.md"} {
				rejectAll(t, f.Workspace, p)
			}
			want := "Here.md"
			if tt.want != "" {
				want += " " + tt.want
			}
			if got := a.sourceHas(); got != want {
				t.Errorf("people have %q, want %q", got, want)
			}
			if _, err := f.Stat(t.Context(), made); (err == nil) != (strings.Contains(tt.want, "Made.md") && tt.name != "a new name") {
				t.Errorf("agents are shown the note: %v", err)
			}
		})
	}
}

func (a worker) write(p model.Path, text, author string) error {
	_, err := a.Write(a.t.Context(), p, bridge.Write{Text: text, By: model.Author{Name: author}})
	return err
}

// A user's empty note is not an agent's, whoever fills it.
func TestRejectedTextLeavesAPersonsNote(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/Empty.md": ""})
	a := worker{f, t, ann}
	a.must(a.write("Notes/Empty.md", "text\n", "ann"))
	rejectAll(t, f.Workspace, "Notes/Empty.md")
	if got := a.sourceHas(); got != "Empty.md" {
		t.Errorf("people have %q", got)
	}
}

// The rejection of a new note is undone with everything, in the same process and
// in a later one; and then it can be rejected again.
func TestRejectedNoteComesBack(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Here.md", "here\n")
	const made, text = model.Path("Notes/New/Made.md"), "one 😀\n\ntwo\n"
	ws := process(t, src, store)
	if _, err := ws.Create(t.Context(), made, bridge.Write{Text: text, By: ann}); err != nil {
		t.Fatal(err)
	}
	raw := src.Person(t).Content("New/Made.md")
	before := pendingOf(t, ws)
	for i := range 3 {
		ws = process(t, src, store)
		var all []string
		for _, s := range pendingOf(t, ws) {
			all = append(all, s.ID)
		}
		decide(t, ws, model.Rejected, all...)
		if _, err := ws.Stat(t.Context(), made); err == nil {
			t.Fatalf("round %d: the note is still there: %q", i, src.Person(t).Names())
		}
		if i == 1 {
			ws = process(t, src, store)
		}
		undo(t, ws, "")
		if got := src.Person(t).Content("New/Made.md"); got != raw {
			t.Errorf("round %d: came back as %q, want %q", i, got, raw)
		}
		after := pendingOf(t, ws)
		if len(after) != len(before) || after[0].Author != "ann" || after[0].Session != ann.Session || after[1].Author != "ann" {
			t.Errorf("round %d: pending %+v, want %+v", i, after, before)
		}
	}
}

// A new note keeps the byte order mark of the text that it was created with, for example as a copy.
func TestByteOrderMarkOfNewNote(t *testing.T) {
	const made, mark = model.Path("Notes/New/Made.md"), diffwrap.ByteOrderMark
	for _, tt := range []struct{ text, raw string }{
		{mark + "one\n", mark + "{++one\n++}"},
		{mark + "one\r\n\r\ntwo\r\n", mark + "{++one\r\n++}{++\r\ntwo\r\n++}"},
		{mark + "---\na: 1\n---\none\n", mark + "---\na: 1\n---\n{++one\n++}"},
		{mark, mark},
	} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Here.md", "here\n")
		ws := process(t, src, store)
		check := func(when, want string) {
			t.Helper()
			if got := src.Person(t).Content("New/Made.md"); got != want {
				t.Errorf("%q, %s: got %q, want %q", tt.text, when, got, want)
			}
		}
		all := func(verdict model.Verdict) (ids []string) {
			for _, s := range pendingOf(t, ws) {
				ids = append(ids, s.ID)
			}
			if len(ids) > 0 {
				decide(t, ws, verdict, ids...)
			}
			return ids
		}
		res, err := ws.Create(t.Context(), made, bridge.Write{Text: tt.text, By: ann})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Version.Text(); got != tt.text {
			t.Errorf("%q: agents are shown %q", tt.text, got)
		}
		check("created", tt.raw)
		ws = process(t, src, store)
		if len(all(model.Accepted)) == 0 {
			continue
		}
		check("accepted", tt.text)
		undo(t, ws, "")
		check("the acceptance is undone", tt.raw)
		all(model.Rejected)
		if _, err := ws.Stat(t.Context(), made); err == nil {
			t.Errorf("%q: the rejected note is still there: %q", tt.text, src.Person(t).Names())
		}
		ws = process(t, src, store)
		undo(t, ws, "")
		check("the rejection is undone", tt.raw)
	}
}

// The rejection of a proposed file is undone with the folders made for the file. They are gone again after the next
// rejection.
func TestRejectedFileComesBack(t *testing.T) {
	const made = model.Path("Notes/New/Deep/data.csv")
	a := worker{bridgetest.New(t, map[string]string{"Notes/Here.md": "here\n"}), t, ann}
	before := a.sourceHas()
	a.mkdir("Notes/New", "Notes/New/Deep")
	if _, err := a.WriteFile(t.Context(), made, []byte("a,b\n"), bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		list, err := a.Proposals(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].Path != made || string(list[0].New) != "a,b\n" || list[0].Author != ann.Name {
			t.Fatalf("proposals: got %+v, %v, want ann's file", list, err)
		}
		decide(t, a.Workspace, model.Rejected, list[0].ID)
		if got := a.sourceHas(); got != before {
			t.Errorf("rejected: the source has %s, had %s", got, before)
		}
		undo(t, a.Workspace, "")
	}
}

// The undo of a rejected new note is refused if another note has had its name since. It leaves nothing behind.
func TestRefusedUndoLeavesNoNote(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"Here.md": "here\n"})
	made := func() {
		t.Helper()
		if _, err := v.ws.Create(t.Context(), "Notes/Made.md", bridge.Write{Text: "made\n", By: ann}); err != nil {
			t.Fatal(err)
		}
	}
	made()
	batch := v.decides(model.Rejected, v.renames(bob, "Notes/Made.md", "Notes/Moved.md"), v.pending()[0].ID)
	made()
	v.decides(model.Rejected, v.pending()[0].ID)
	out, err := v.ws.Undo(t.Context(), batch, person)
	if err != nil || len(out.Failed) == 0 {
		t.Errorf("the undo: %+v, %v", out, err)
	}
	if names := v.src.Person(t).Names(); len(names) != 1 {
		t.Errorf("after the refused undo the vault has %q", names)
	}
}

// A new note whose text was rejected stays while a rename of it is pending, and after that was accepted, again after an
// undo, too. The vault may have the new note at another name because a renamed note has its name there.
func TestRenamedRejectedNoteStays(t *testing.T) {
	for _, first := range []string{"made\n", ""} {
		for _, taken := range []bool{false, true} {
			v := newLinkedVault(t, nil)
			var renames []string
			at, rel := model.Path("Notes/Made.md"), "Made.md"
			if taken {
				v = newLinkedVault(t, map[string]string{"Moved.md": "here\n"})
				renames = append(renames, v.renames(bob, "Notes/Moved.md", "Notes/Away.md"))
				at, rel = "Notes/Moved.md", "Moved 1.md"
			}
			if _, err := v.ws.Create(t.Context(), at, bridge.Write{Text: first, By: ann}); err != nil {
				t.Fatal(err)
			}
			if taken {
				renames = append(renames, v.renameOf("Notes/"+model.Path(rel)))
			} else {
				renames = append(renames, v.renames(bob, at, "Notes/Moved.md"))
			}
			if first == "" {
				v.edits(ann, "Notes/Moved.md", "", "made\n")
			}
			raw := v.content(rel)
			v.decides(model.Rejected, v.pending()[0].ID)
			for range 2 {
				v.decides(model.Accepted, renames...)
				v.restart()
				v.says("after a restart", "Moved.md", "")
				undo(t, v.ws, "")
				v.says("after the undo of the rename", rel, "")
			}
			undo(t, v.ws, "")
			v.says("after both", rel, raw)
		}
	}
}

// The undo of an exchange of folders keeps an agent's empty folder in one of them, although a folder of the other one
// returns to the path that the empty folder has.
func TestUndoKeepsAnEmptyFolderThatMovesBack(t *testing.T) {
	v := newLinkedVault(t, map[string]string{"d/e/E.md": "e\n", "d/D.md": "d\n", "f/F.md": "f\n"})
	if err := v.ws.Mkdir(t.Context(), "Notes/f/e", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	renames := []string{v.renames(ann, "Notes/d/e", "Notes/g")}
	v.renames(ann, "Notes/d", "Notes/aside")
	renames = append(renames, v.renames(ann, "Notes/f", "Notes/d"), v.renames(ann, "Notes/aside", "Notes/f"))
	before := v.src.Person(t).Names()
	v.decides(model.Accepted, renames...)
	undo(t, v.ws, "")
	if got := v.src.Person(t).Names(); !slices.Equal(got, before) {
		t.Errorf("undone: %q, want %q", got, before)
	}
}

// A new note whose name is another note's in the vault keeps its name over a stop in which a user moves its file.
func TestNewNoteAtATakenNameIsMovedOverAStop(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": "plan\n"})
	_, err := d.ws.Rename(t.Context(), plan, "Notes/Away.md", bridge.ChangeRequest{Author: ann})
	d.must(err)
	_, err = d.ws.Create(t.Context(), plan, bridge.Write{Text: "made\n", By: ann})
	d.must(err)
	d.must(d.ws.Mkdir(t.Context(), "Notes/Sub", bridge.ChangeRequest{Author: ann}))
	d.restarted(func() { d.rename("Plan 1.md", "Sub/Here.md") })
	list, err := d.ws.Proposals(t.Context(), "Notes/Sub")
	if err != nil || len(list) != 1 || list[0].Path != "Notes/Sub/Here.md" || list[0].NewPath != plan || !list[0].Stale {
		t.Errorf("proposals %+v, %v", list, err)
	}
	if got := open(t, d.ws, plan).Text(); got != "made\n" {
		t.Errorf("the note is %q", got)
	}
}
