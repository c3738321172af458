package bridge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/tests/need"
)

// onDisk is a vault and a store on the disk, which outlive the process that serves them.
type onDisk struct {
	t    testing.TB
	dir  string
	ws   *bridge.Workspace
	stop func()
}

func newOnDisk(t testing.TB, files map[string]string) *onDisk {
	t.Helper()
	d := &onDisk{t: t, dir: t.TempDir()}
	for rel, text := range files {
		d.save(rel, text)
	}
	d.start()
	t.Cleanup(func() { d.stop() })
	return d
}

func (d *onDisk) path(rel string) string { return filepath.Join(d.dir, "vault", rel) }

func (d *onDisk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// save saves a file in place.
func (d *onDisk) save(rel, text string) {
	d.t.Helper()
	d.must(os.MkdirAll(filepath.Dir(d.path(rel)), 0o755))
	d.must(os.WriteFile(d.path(rel), []byte(text), 0o644))
}

// saveAsNew saves a file by renaming a new one over it.
func (d *onDisk) saveAsNew(rel, text string) {
	d.t.Helper()
	temp := filepath.Join(d.dir, "temp")
	d.must(os.WriteFile(temp, []byte(text), 0o644))
	d.must(os.Rename(temp, d.path(rel)))
}

func (d *onDisk) rename(from, to string) { d.t.Helper(); d.must(os.Rename(d.path(from), d.path(to))) }
func (d *onDisk) remove(rel string)      { d.t.Helper(); d.must(os.Remove(d.path(rel))) }

func (d *onDisk) read(rel string) string {
	data, _ := os.ReadFile(d.path(rel))
	return string(data)
}

// start starts a process.
func (d *onDisk) start() {
	d.t.Helper()
	s, err := store.Open(filepath.Join(d.dir, "store"), store.Options{})
	d.must(err)
	v, err := vault.New(filepath.Join(d.dir, "vault"), vault.Options{Swap: filepath.Join(d.dir, "swap")})
	d.must(err)
	d.ws, err = bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "Notes", Source: v, Store: s}}})
	d.must(err)
	d.must(d.ws.Start(context.Background()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- d.ws.Run(ctx) }()
	d.stop = func() {
		cancel()
		for _, err := range []error{<-done, v.Close(), s.Close()} {
			if err != nil {
				d.t.Error(err)
			}
		}
		d.stop = func() {}
	}
}

// restarted runs what while no process serves the vault.
func (d *onDisk) restarted(what func()) {
	d.t.Helper()
	d.stop()
	what()
	d.start()
}

// noticed waits until the workspace has a note, or has none any more.
func (d *onDisk) noticed(p model.Path, there bool) {
	d.t.Helper()
	d.until(fmt.Sprintf("%s: there is %v", p, there), func() bool { return (d.ws.NoteID(p) != 0) == there })
}

func (d *onDisk) stat(rel string) error {
	_, err := d.ws.Stat(d.t.Context(), model.Path("Notes/"+rel))
	return err
}

func (d *onDisk) until(what string, done func() bool) {
	d.t.Helper()
	for end := time.Now().Add(need.Scaled(20 * time.Second)); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("it never came to this: %s", what)
		}
	}
}

// secret has an agent take a word out of the note, which a user accepts, and propose another change.
func (d *onDisk) secret() {
	d.t.Helper()
	secret(d.t, d.ws)
}

func secret(t testing.TB, ws *bridge.Workspace) {
	t.Helper()
	replaceIn(t, ws, plan, ann, " is 1234", "")
	decide(t, ws, model.Accepted, ids(pendingOf(t, ws))...)
	replaceIn(t, ws, plan, ann, "secret", "SECRET")
}

func replaceIn(t testing.TB, ws *bridge.Workspace, p model.Path, author model.Author, old, new string) {
	t.Helper()
	text := open(t, ws, p).Text()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in %q", old, text)
	}
	write(t, ws, p, bridge.Write{Text: strings.Replace(text, old, new, 1), By: author})
}

const (
	secrets  = "My secret is 1234.\n\nNobody is to read this, and it goes on for a while.\n"
	shopping = "Shopping: milk and bread.\n"
)

// isAnother checks that nothing of the document of secrets comes into the note at plan, and that nothing is undone there. It reports
// whether an undo has looked for the text there.
func isAnother(t *testing.T, ws *bridge.Workspace, raw func() string, want string) (lookedInside bool) {
	t.Helper()
	for range 3 {
		out, err := ws.Undo(t.Context(), "", person)
		if err == nil && len(out.Failed) == 0 {
			t.Errorf("a decision in the earlier note is undone: %+v", out)
		}
		for _, err := range out.Failed {
			lookedInside = lookedInside || strings.Contains(err.Error(), "not restored")
		}
	}
	if got := raw(); got != want {
		t.Errorf("the other note is %q, want %q", got, want)
	}
	replaceIn(t, ws, plan, bob, "milk", "MILK")
	if list := pendingOf(t, ws); len(list) != 1 || list[0].Author != "bob" {
		t.Errorf("pending in the other note: %+v", list)
	}
	decide(t, ws, model.Rejected, ids(pendingOf(t, ws))...)
	if got := raw(); got != want {
		t.Errorf("after a rejection the other note is %q, want %q", got, want)
	}
	return lookedInside
}

// is checks that the note at p is that of the document of secrets: its suggestion is its author's, and what was accepted
// can be undone.
func is(t *testing.T, ws *bridge.Workspace, p model.Path) {
	t.Helper()
	list := pendingOf(t, ws)
	if len(list) != 1 || list[0].Author != "ann" || list[0].Path != p {
		t.Errorf("pending %+v, want one by ann in %s", list, p)
	}
	if _, err := ws.Undo(t.Context(), "", person); err != nil {
		t.Error(err)
	}
	if raw := open(t, ws, p).Raw(); !strings.Contains(raw, "1234") {
		t.Errorf("undone: %q", raw)
	}
}

// A note that is made at the name of one that was deleted is another one, whoever deleted that, whatever the new one holds
// and however it is made.
func TestNoteAtADeletedNotesName(t *testing.T) {
	deletions := map[string]func(*testing.T, *bridgetest.Fixture){
		"by a person": func(_ *testing.T, f *bridgetest.Fixture) { f.Delete(plan) },
		"proposed and accepted": func(t *testing.T, f *bridgetest.Fixture) {
			res, err := f.Remove(t.Context(), plan, bridge.ChangeRequest{Author: ann})
			if err != nil {
				t.Fatal(err)
			}
			decide(t, f.Workspace, model.Accepted, res.Proposal)
		},
		"with its folder's name": func(_ *testing.T, f *bridgetest.Fixture) {
			f.Rename(plan, "Notes/Sub/Plan.md")
			f.Delete("Notes/Sub")
		},
	}
	for name, deleted := range deletions {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{shopping, "My secret. Shopping: milk.\n\nNobody is to read this, and it goes on for a while.\n"} {
				f := bridgetest.New(t, map[string]string{plan: secrets, "Notes/Sub/Else.md": "x\n"})
				secret(t, f.Workspace)
				deleted(t, f)
				f.Person(plan, text)
				isAnother(t, f.Workspace, func() string { return f.SourceText(plan) }, text)
			}
		})
	}
}

// What is moved over a note is what it was, and not the note that it replaces.
func TestNoteMovedOverAnother(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": shopping})
	d.secret()
	d.rename("Other.md", "Plan.md")
	d.noticed("Notes/Other.md", false)
	if isAnother(t, d.ws, func() string { return d.read("Plan.md") }, shopping) {
		t.Error("the note has the replaced note's document")
	}
}

// A note with suggestions that a user moves over another one with suggestions keeps its document.
func TestNoteWithSuggestionsMovedOverAnother(t *testing.T) {
	const other = "Notes/A/Other.md"
	for name, text := range map[string]string{"another text": "The price is 99 and not less.\n", "a copy": secrets + "The price is 99 and not less.\n"} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %v", name, restarted), func(t *testing.T) {
				d := newOnDisk(t, map[string]string{"Plan.md": secrets, "A/Other.md": text})
				replaceIn(t, d.ws, plan, ann, " is 1234", "")
				decide(t, d.ws, model.Accepted, ids(pendingOf(t, d.ws))...)
				replaceIn(t, d.ws, other, bob, " and not less", "")
				decide(t, d.ws, model.Accepted, ids(pendingOf(t, d.ws))...)
				replaceIn(t, d.ws, other, bob, "price", "PRICE")
				want := pendingOf(t, d.ws)
				replaceIn(t, d.ws, plan, ann, "secret", "SECRET")
				d.rename("A/Other.md", "Plan.md")
				d.until("nothing is pending at the old path", func() bool {
					return !slices.ContainsFunc(pendingOf(t, d.ws), func(s model.Suggestion) bool { return s.Path == other })
				})
				if restarted {
					d.restarted(func() {})
				}
				list := pendingOf(t, d.ws)
				if len(list) != 1 || list[0].ID != want[0].ID || list[0].Author != "bob" || list[0].Path != plan {
					t.Errorf("pending %+v, want %+v in %s", list, want, plan)
				}
				moved := d.read("Plan.md")
				if _, err := d.ws.Undo(t.Context(), "", person); err != nil {
					t.Error(err)
				}
				undone := d.read("Plan.md")
				if undone == moved || !strings.Contains(undone, "and not less") {
					t.Errorf("undone in the moved note: %q", undone)
				}
				if out, err := d.ws.Undo(t.Context(), "", person); err == nil && len(out.Failed) == 0 {
					t.Errorf("a decision in the replaced note is undone: %+v", out)
				}
				if got := d.read("Plan.md"); got != undone {
					t.Errorf("the undo of a decision in the replaced note makes the moved note %q, want %q", got, undone)
				}
			})
		}
	}
}

// A program that saves a note through a temporary file beside it saves the note, also if relayfs has noticed that file
// and a reader has read it.
func TestNoteSavedThroughATemporaryNote(t *testing.T) {
	for _, temp := range []string{"Plan.tmp.md", ".Plan.md.swp.md", "Plan.md.tmp"} {
		for _, c := range [][2]bool{{true, true}, {true, false}, {false, false}} {
			noticed, restarted := c[0], c[1]
			t.Run(fmt.Sprintf("%s, noticed %v, restarted %v", temp, noticed, restarted), func(t *testing.T) {
				d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": shopping})
				d.secret()
				d.save(temp, d.read("Plan.md")+"A line.\n")
				if noticed {
					d.until("the temporary file is noticed", func() bool { return d.stat(temp) == nil })
					d.ws.Open(t.Context(), model.Path("Notes/"+temp)) // fails if it is no note
				}
				d.rename(temp, "Plan.md")
				d.until("the temporary file is gone", func() bool { return d.stat(temp) != nil })
				d.until("the save is noticed", func() bool { return strings.Contains(open(t, d.ws, plan).Raw(), "A line.") })
				if restarted {
					d.restarted(func() {})
				}
				is(t, d.ws, plan)
			})
		}
	}
}

// A file that gets the name of a note is a note.
func TestFileBecomesANote(t *testing.T) {
	d := newOnDisk(t, map[string]string{"draft.txt": shopping, "Other.md": "x\n"})
	d.rename("draft.txt", "Plan.md")
	d.noticed(plan, true)
	replaceIn(t, d.ws, plan, ann, "milk", "MILK")
}

// On a disk, with the number of the deleted file given out again or not, while relayfs runs and while it does not.
func TestNoteAtADeletedNotesNameOnADisk(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": "x\n"}) // a vault that is empty is away
	d.secret()
	d.remove("Plan.md")
	d.noticed(plan, false)
	d.save("Plan.md", shopping)
	d.noticed(plan, true)
	if isAnother(t, d.ws, func() string { return d.read("Plan.md") }, shopping) {
		t.Error("the note has the earlier note's document")
	}

	for name, what := range map[string]func(*onDisk){
		"deleted and made":        func(d *onDisk) { d.remove("Plan.md"); d.save("Plan.md", shopping) },
		"replaced by another one": func(d *onDisk) { d.saveAsNew("Plan.md", shopping) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newOnDisk(t, map[string]string{"Plan.md": secrets})
			d.secret()
			d.restarted(func() { what(d) })
			if isAnother(t, d.ws, func() string { return d.read("Plan.md") }, shopping) {
				t.Error("the note has the earlier note's document")
			}
		})
	}
}

// A note is itself after whatever users' programs do to its file.
func TestNoteIsItself(t *testing.T) {
	for name, what := range map[string]func(d *onDisk){
		"saved in place":        func(d *onDisk) { d.save("Plan.md", "A line.\n"+d.read("Plan.md")) },
		"all of it replaced":    func(d *onDisk) { d.save("Plan.md", "Something else.\n\n"+d.read("Plan.md")[:40]) },
		"saved as a new file":   func(d *onDisk) { d.saveAsNew("Plan.md", d.read("Plan.md")+"A line.\n") },
		"copied back":           func(d *onDisk) { text := d.read("Plan.md"); d.remove("Plan.md"); d.save("Plan.md", text) },
		"moved away and back":   func(d *onDisk) { d.rename("Plan.md", "x.md"); d.rename("x.md", "Plan.md") },
		"moved to another name": func(d *onDisk) { d.rename("Plan.md", "Moved.md") },
		"moved and saved":       func(d *onDisk) { d.rename("Plan.md", "Moved.md"); d.save("Moved.md", "A line.\n"+d.read("Moved.md")) },
		"moved and saved as a new file": func(d *onDisk) {
			d.rename("Plan.md", "Moved.md")
			d.saveAsNew("Moved.md", d.read("Moved.md")+"A line.\n")
		},
		"moved, another made": func(d *onDisk) {
			d.rename("Plan.md", "Moved.md")
			d.save("Plan.md", shopping)
		},
		"exchanged": func(d *onDisk) {
			d.rename("Plan.md", "x")
			d.rename("Other.md", "Plan.md")
			d.rename("x", "Moved.md")
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": shopping})
			d.secret()
			d.restarted(func() { what(d) })
			at := model.Path(plan)
			if d.read("Moved.md") != "" {
				at = "Notes/Moved.md"
			}
			is(t, d.ws, at)
			if text := d.read("Plan.md"); at != plan && text != "" && text != shopping {
				t.Errorf("the other note is %q", text)
			}
		})
	}
}

// A user deletes the only word of a note, which an agent wants deleted, while relayfs is stopped.
func TestMarkEmptiedWhileStopped(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": "word "})
	write(t, d.ws, plan, bridge.Write{Text: "", By: ann})
	d.restarted(func() { d.saveAsNew("Plan.md", strings.Replace(d.read("Plan.md"), "word ", "", 1)) })
	if v := open(t, d.ws, plan); v.Raw() != "{----}" || v.Text() != "" {
		t.Errorf("%q is shown as %q", v.Raw(), v.Text())
	}
}

// A note that was moved while relayfs was stopped is itself if a program saves it as a new file before relayfs has read it.
func TestNoteMovedAndSavedBeforeItIsRead(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": shopping})
	replaceIn(t, d.ws, plan, ann, " is 1234", "")
	decide(t, d.ws, model.Accepted, ids(pendingOf(t, d.ws))...)
	d.restarted(func() { d.rename("Plan.md", "Moved.md") })
	d.saveAsNew("Moved.md", d.read("Moved.md")+"A line.\n")
	if _, err := d.ws.Undo(t.Context(), "", person); err != nil {
		t.Error(err)
	}
	if raw := open(t, d.ws, "Notes/Moved.md").Raw(); !strings.Contains(raw, "1234") {
		t.Errorf("undone: %q", raw)
	}
}

// A note that comes back while relayfs runs, as it was or as the same file, is the one that had gone.
func TestNoteComesBack(t *testing.T) {
	for name, what := range map[string]func(d *onDisk) func(){
		"as it was": func(d *onDisk) func() {
			text := d.read("Plan.md")
			d.remove("Plan.md")
			return func() { d.save("Plan.md", text) }
		},
		"as the same file": func(d *onDisk) func() {
			d.must(os.Rename(d.path("Plan.md"), filepath.Join(d.dir, "away")))
			return func() { d.must(os.Rename(filepath.Join(d.dir, "away"), d.path("Plan.md"))) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": "x\n"})
			d.secret()
			back := what(d)
			d.noticed(plan, false)
			back()
			d.noticed(plan, true)
			is(t, d.ws, plan)
		})
	}
}

// Two notes exchange their names while relayfs is stopped, both with documents or one of them.
func TestNamesExchangedWhileStopped(t *testing.T) {
	for _, both := range []bool{true, false} {
		t.Run(fmt.Sprint(both), func(t *testing.T) {
			d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": "Beta three.\n"})
			d.secret()
			if both {
				replaceIn(t, d.ws, "Notes/Other.md", bob, "three", "THREE")
			}
			d.restarted(func() {
				d.rename("Plan.md", "x")
				d.rename("Other.md", "Plan.md")
				d.rename("x", "Other.md")
			})
			authors := make(map[model.Path]string)
			for _, s := range pendingOf(t, d.ws) {
				authors[s.Path] += s.Author
			}
			if authors["Notes/Other.md"] != "ann" || both && authors[plan] != "bob" {
				t.Errorf("the authors of what waits are %v", authors)
			}
			if _, err := d.ws.Undo(t.Context(), "", person); err != nil {
				t.Error(err)
			}
			if got := d.read("Plan.md"); strings.Contains(got, "1234") {
				t.Errorf("it is undone in the wrong note: %q", got)
			}
			if got := d.read("Other.md"); !strings.Contains(got, "1234") {
				t.Errorf("it is not undone: %q", got)
			}
		})
	}
}

// While relayfs is stopped, a note is moved and saved as a new file, and another note with a document gets its name.
func TestNoteSavedAsNewLosesItsNameWhileStopped(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets, "Other.md": shopping})
	d.secret()
	replaceIn(t, d.ws, "Notes/Other.md", bob, "milk", "MILK")
	d.restarted(func() {
		d.save("Moved.md", d.read("Plan.md")+"A line.\n")
		d.rename("Other.md", "Plan.md")
	})
	for _, s := range pendingOf(t, d.ws) {
		if want := map[model.Path]string{"Notes/Moved.md": "ann", plan: "bob"}[s.Path]; s.Author != want {
			t.Errorf("the suggestion in %s is by %q, want %q", s.Path, s.Author, want)
		}
	}
	if _, err := d.ws.Undo(t.Context(), "", person); err != nil {
		t.Error(err)
	}
	if raw := open(t, d.ws, "Notes/Moved.md").Raw(); !strings.Contains(raw, "1234") {
		t.Errorf("undone: %q", raw)
	}
}

// A copy of a note is another note, also if the copy is read first.
func TestCopyWhileStopped(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets})
	d.secret()
	d.restarted(func() { d.save("A copy.md", d.read("Plan.md")) })
	for _, s := range pendingOf(t, d.ws) {
		if want := map[model.Path]string{plan: "ann"}[s.Path]; s.Author != want {
			t.Errorf("the suggestion in %s is by %q, want %q", s.Path, s.Author, want)
		}
	}
}

// A copy that has the document of a removed note keeps it if an undo restores that note: two notes never share one.
func TestCopyOfANoteThatIsRestored(t *testing.T) {
	d := newOnDisk(t, map[string]string{"Plan.md": secrets})
	d.secret()
	if _, err := d.ws.Remove(t.Context(), plan, bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	d.restarted(func() { d.save("A copy.md", d.read("Plan.md")) })
	accepted := decideAll(t, d.ws, model.Accepted)
	d.restarted(func() {})
	if list := pendingOf(t, d.ws); len(list) != 1 || list[0].Author != "ann" {
		t.Fatalf("pending in the copy: %+v", list)
	}
	if out, err := d.ws.Undo(t.Context(), accepted.Batch, person); err != nil || len(out.Failed) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	decideAll(t, d.ws, model.Rejected)
	replaceIn(t, d.ws, "Notes/A copy.md", bob, "Nobody", "Anybody")
	replaceIn(t, d.ws, plan, bob, "while", "year")
	d.restarted(func() {})
	var authors []string
	for _, s := range pendingOf(t, d.ws) {
		authors = append(authors, fmt.Sprintf("%s: %s by %q", s.Path.Base(), s.New, s.Author))
	}
	want := []string{`A copy.md: SECRET by "ann"`, `A copy.md: Anybody by "bob"`, `Plan.md: SECRET by ""`, `Plan.md: year by "bob"`}
	if !slices.Equal(authors, want) {
		t.Errorf("pending %q, want %q", authors, want)
	}
}
