package fusefs_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// A user moves or removes a new note as soon as the vault has it, while its first save is still in progress. The save
// succeeds. A later save through the same handle reaches the moved note, and does not create the removed note again.
func TestNewNoteLeavesDuringItsFirstSave(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	for name, moves := range map[string]bool{"moved": true, "removed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mount(t, map[string]string{"F/keep.md": "keep\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
			var left atomic.Bool
			defer m.Subscribe(func(ev model.Event) {
				if ev.Kind != model.EventCreated || ev.Path != "F/New.md" || !left.CompareAndSwap(false, true) {
					return
				}
				if moves {
					m.Rename("F/New.md", "F/Moved.md")
				} else {
					m.Delete("F/New.md")
				}
			})()
			a := m.agent(t, "F")
			if got := a.do(`keep("f", os.open("New.md", os.O_CREAT | os.O_WRONLY))`); got != "null" {
				t.Fatal(got)
			}
			if got := a.do(`(os.write(held["f"], b"one\n"), os.close(os.dup(held["f"])))[0]`); got != "4" {
				t.Errorf("the first save: %s", got)
			}
			second := a.do(`(os.write(held["f"], b"two\n"), os.close(held["f"]))[0]`)
			if !left.Load() {
				t.Fatal("the note did not leave")
			}
			names := m.Source("F").Person(t).Names()
			if moves {
				if len(names) != 2 || m.SourceText("F/Moved.md") != "one\ntwo\n" || second != "4" {
					t.Errorf("the vault has %q; the second save: %s", names, second)
				}
			} else if len(names) != 1 {
				t.Errorf("the vault has %q", names)
			}
			if got := a.do(`sorted(os.listdir("."))`); len(names) == 2 && got != `["Moved.md", "keep.md"]` || len(names) == 1 && got != `["keep.md"]` {
				t.Errorf("the mount has %s", got)
			}
			if moves {
				m.Delete("F/Moved.md")
				eventually(t, func() error { return wants("the mount", a.do(`sorted(os.listdir("."))`), `["keep.md"]`) })
			}
		})
	}
}

// While a new note cannot be saved, another session cannot open it: it would write into the text of the first session.
func TestNewNoteIsNotSharedBySessions(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/keep.md": "keep\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	a, b := m.session(t, "F"), m.session(t, "F")
	a.do(`keep("f", os.open("New.md", os.O_CREAT | os.O_WRONLY))`)
	a.do(`os.write(held["f"], b"one\n")`)
	m.SetOffline("F", true)
	opened := b.do(`keep("f", os.open("New.md", os.O_WRONLY | os.O_TRUNC))`)
	m.SetOffline("F", false)
	if got := a.do(`os.close(held["f"])`); got != "null" {
		t.Error(got)
	}
	checkText(t, "the open", opened, `"Device or resource busy"`)
	checkText(t, "the vault", m.SourceText("F/New.md"), "one\n")
	checkText(t, "the mount", b.do(`read("New.md")`), `"one\n"`)
}

// If the first save of a new note fails, the note stays for the other programs that have it open. The text of a program
// whose close succeeds is in the vault.
func TestNewNoteIsSharedWhenItsFirstSaveFails(t *testing.T) {
	t.Parallel()
	requireFUSE(t)
	for _, created := range []string{"one\n", ""} {
		m := mount(t, map[string]string{"F/keep.md": "keep\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
		a, b, c := m.agent(t, "F"), m.agent(t, "F"), m.agent(t, "F")
		a.do(`keep("f", os.open("New.md", os.O_CREAT | os.O_WRONLY))`)
		a.do(`os.write(held["f"], b%q)`, created)
		m.SetOffline("F", true)
		for _, x := range []*agent{b, c} {
			if got := x.do(`keep("f", os.open("New.md", os.O_RDWR))`); got != "null" {
				t.Fatal(got)
			}
		}
		a.do(`os.close(held["f"])`)
		c.do(`os.close(held["f"])`)
		m.SetOffline("F", false)
		if got := b.do(`(os.truncate(held["f"], 0), os.write(held["f"], b"two\n"), os.close(held["f"]))[1]`); got != "4" {
			t.Fatal(got)
		}
		if got := m.Source("F").Person(t).Names(); len(got) != 2 || m.SourceText("F/New.md") != "two\n" {
			t.Errorf("the vault has %q", got)
		}
	}
}

// If the first save of a new note fails and no other program writes it, the note is gone when the last program closes it.
func TestNewNoteWhoseFirstSaveFailsEnds(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/keep.md": "keep\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	a, b := m.agent(t, "F"), m.agent(t, "F")
	a.do(`keep("f", os.open("New.md", os.O_CREAT | os.O_WRONLY))`)
	a.do(`os.write(held["f"], b"one\n")`)
	m.SetOffline("F", true)
	b.do(`keep("f", os.open("New.md", os.O_RDONLY))`)
	if got := a.do(`os.close(held["f"])`); got == "null" {
		t.Error("the save did not fail")
	}
	m.SetOffline("F", false)
	if got := b.do(`os.read(held["f"], 100).decode()`); got != `"one\n"` {
		t.Errorf("the other program reads %s", got)
	}
	b.do(`os.close(held["f"])`)
	eventually(t, func() error { return wants("the mount", a.do(`sorted(os.listdir("."))`), `["keep.md"]`) })
	if got := m.Source("F").Person(t).Names(); len(got) != 1 {
		t.Errorf("the vault has %q", got)
	}
}

// While a program creates a note, another program creates a note of that name: the note has the text of both.
func TestTwoProgramsCreateANote(t *testing.T) {
	t.Parallel()
	for _, mode := range []bridge.Mode{bridge.Direct, bridge.Suggest} {
		for _, how := range []string{"user", "rename"} {
			m := mount(t, map[string]string{"F/keep.md": "keep\n"}, func(o *bridge.Options) { o.Mode = mode })
			a, b := m.session(t, "F"), m.session(t, "F")
			a.do(`keep("f", os.open("New.md", os.O_CREAT | os.O_EXCL | os.O_WRONLY))`)
			if how == "user" {
				m.Person("F/New.md", "theirs\n")
			} else if got := b.do(`replace("New.md", "theirs\n")`); got != "null" {
				t.Error(got)
			}
			if got := a.do(`(os.write(held["f"], b"mine\n"), os.close(held["f"]))[0]`); got != "5" {
				t.Error(got)
			}
			got := diffwrap.Everything.Accepted(m.SourceText("F/New.md"))
			if strings.Count(got, "mine\n") != 1 || strings.Count(got, "theirs\n") != 1 {
				t.Errorf("mode %v, %s: the vault has %q", mode, how, got)
			}
		}
	}
}

// A user moves a note that a program has open, and changes it before the move is known. The program's save reaches it.
func TestNoteIsMovedAndChangedWhileOpen(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	a := m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "r+"))`)
	a.do(`held["f"].read()`)
	p := m.Source("F").Person(t)
	p.Rename("Note.md", "Moved.md")
	p.Save("Moved.md", "theirs\none\n")
	if got := a.do(`(held["f"].write("mine\n"), held["f"].close())[0]`); got != "5" {
		t.Error(got)
	}
	checkText(t, "the moved note", m.SourceText("F/Moved.md"), "theirs\none\nmine\n")
}

// A user moves a note, and the mount shows it at its new path. If a program that has read the note at the old path then
// saves it there, it creates a new note, as on any disk, because it finds its file at that path only. The moved note
// stays as it is, and a user can reject the new note.
func TestSaveToAFormerPath(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"write", "replace"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			m := mount(t, map[string]string{"F/Note.md": tideTable})
			a := m.agent(t, "F")
			a.do(`keep("text", read("Note.md"))`)
			m.Rename("F/Note.md", "F/Moved.md")
			eventually(t, func() error {
				return wants("the mount", a.do(`" ".join(os.listdir(".")) + str(os.path.exists("Note.md"))`), `"Moved.mdFalse"`)
			})
			if got := a.do(`%s("Note.md", held["text"].replace("six", "seven"))`, how); got != "null" {
				t.Fatal(got)
			}
			want := strings.Replace(tideTable, "six", "seven", 1)
			checkText(t, "the new note", m.cat(t, "F/Note.md"), want)
			m.checkSuggested(t, "F/Note.md", "", want)
			m.checkSuggested(t, "F/Moved.md", tideTable, tideTable)
			list, err := m.Suggestions(t.Context(), "")
			if err != nil || len(list) == 0 {
				t.Fatalf("%d suggestions, %v", len(list), err)
			}
			var ids []string
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			if _, err := m.Decide(t.Context(), ids, model.Rejected, model.Author{Name: "person"}); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() error {
				return wants("the vault", strings.Join(m.Source("F").Person(t).Names(), " "), "Moved.md")
			})
		})
	}
}
