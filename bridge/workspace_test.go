package bridge_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

const plan = "Notes/Plan.md"

func open(t testing.TB, ws *bridge.Workspace, p model.Path) *model.Version {
	t.Helper()
	v, err := ws.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func write(t testing.TB, ws *bridge.Workspace, p model.Path, wr bridge.Write) bridge.Result {
	t.Helper()
	res, err := ws.Write(t.Context(), p, wr)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestWriteBecomesSuggestions(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "The quick brown fox.\n"})
	res := write(t, f.Workspace, plan, bridge.Write{Text: "The quick red fox.\n"})
	if got, want := f.SourceText(plan), "The quick {--brown--}{++red++} fox.\n"; got != want {
		t.Errorf("source holds %q, want %q", got, want)
	}
	if res.Version.Text() != "The quick red fox.\n" || !res.Changed || res.Merged || res.Suggestions() != 1 {
		t.Errorf("result %+v", res)
	}
	if open(t, f.Workspace, plan) != res.Version {
		t.Error("readers get another version than the writer")
	}
}

func TestUnchangedWriteIsNoWrite(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\r\nb\r\n", "\ufeffa\n", "x {++y++} z\n", "---\nk: v\n---\n"} {
		f := bridgetest.New(t, map[string]string{plan: text})
		v := open(t, f.Workspace, plan)
		var events int
		f.Subscribe(func(model.Event) { events++ })
		res := write(t, f.Workspace, plan, bridge.Write{Base: v, Text: v.Text()})
		if res.Changed || res.Version != v || f.SourceText(plan) != text || events != 0 {
			t.Errorf("%q written back unchanged: %+v, %d events, source %q", text, res, events, f.SourceText(plan))
		}
	}
}

func TestStaleWriterAndPersonBothStay(t *testing.T) {
	tests := []struct{ name, base, person, written, accepted string }{
		{"far", "one\ntwo\nthree\n", "one\ntwo\nthree typed\n", "ONE\ntwo\nthree\n", "ONE\ntwo\nthree typed\n"},
		{"beside", "alpha beta\n", "alpha typed beta\n", "ALPHA beta\n", "ALPHA typed beta\n"},
		{"inside", "keep alpha beta end\n", "keep alpha typed beta end\n", "keep end\n", "keep typed end\n"},
		{"append", "log\n", "log\ntyped\n", "log\nagent\n", "log\ntyped\nagent\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: tt.base})
			base := open(t, f.Workspace, plan)
			f.Person(plan, tt.person)
			res := write(t, f.Workspace, plan, bridge.Write{Base: base, Text: tt.written})
			if got := res.Version.Text(); got != tt.accepted || !res.Merged {
				t.Errorf("view is %q, want %q", got, tt.accepted)
			}
			if got := diffwrap.Original(f.SourceText(plan)); got != tt.person {
				t.Errorf("a person's text without suggestions is %q, want %q", got, tt.person)
			}
		})
	}
}

// TestStaleWriterAfterManyChanges lets a writer with an old base write to a note
// that has a document, so that characters are found by identity.
func TestStaleWriterAfterManyChanges(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "a a a a\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "a a a a b\n"}) // makes the document
	base := open(t, f.Workspace, plan)
	// By text alone it cannot be told which "a" a user removed.
	raw := f.SourceText(plan)
	f.Person(plan, strings.Replace(raw, "a a ", "a typed a ", 1))
	res := write(t, f.Workspace, plan, bridge.Write{Base: base, Text: "a a a a B\n"})
	if got, want := res.Version.Text(), "a typed a a a B\n"; got != want {
		t.Errorf("view is %q, want %q", got, want)
	}
}

func TestUpdate(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one two\n"})
	own := errors.New("no match")
	_, err := f.Update(t.Context(), plan, model.Author{}, nil, func(*model.Version) (string, error) { return "", own })
	if err != own {
		t.Errorf("error of the function came back as %v", err)
	}
	author := model.Author{Name: "ann", Session: "s1"}
	_, err = f.Update(t.Context(), plan, author, "me", func(v *model.Version) (string, error) {
		return strings.Replace(v.Text(), "two", "three", 1), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Suggestions(t.Context(), "")
	if err != nil || len(list) != 1 {
		t.Fatalf("suggestions: %v, %v", list, err)
	}
	s := list[0]
	if s.Old != "two" || s.New != "three" || s.Author != "ann" || s.Session != "s1" || s.Line != 1 || s.Time.IsZero() || s.ID == "" {
		t.Errorf("suggestion %+v", s)
	}
}

func TestAuthorsOfNeighboursAreToldApart(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\nthree\n"})
	for _, author := range []string{"ann", "bob"} {
		_, err := f.Update(t.Context(), plan, model.Author{Name: author}, nil, func(v *model.Version) (string, error) {
			return strings.Replace(v.Text(), map[string]string{"ann": "one", "bob": "three"}[author], author, 1), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	f.Person(plan, "typed above\n"+f.SourceText(plan))
	list, err := f.Suggestions(t.Context(), plan)
	if err != nil || len(list) != 2 || list[0].Author != "ann" || list[1].Author != "bob" {
		t.Errorf("suggestions %+v, %v", list, err)
	}
	if list[0].Line != 2 {
		t.Errorf("ann's suggestion is in line %d, want 2", list[0].Line)
	}
}

func TestWriteRefusals(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		plan: "text\n", "Notes/latin1.md": "caf\xe9\n", "Notes/pic.png": "png", "Notes/sub/x.md": "x",
	})
	tests := []struct {
		path model.Path
		text string
		want error
	}{
		{"Notes/none.md", "x", fs.ErrNotExist},
		{"Notes/sub", "x", model.ErrIsDir},
		{"Notes/pic.png", "x", model.ErrNotNote},
		{"Notes/latin1.md", "x", model.ErrReadOnly},
		{plan, "bad \xff", model.ErrInvalidUTF8},
		{plan, strings.Repeat("x", model.MaxNote+1), model.ErrTooLarge},
	}
	for _, tt := range tests {
		_, err := f.Write(t.Context(), tt.path, bridge.Write{Text: tt.text})
		if !errors.Is(err, tt.want) {
			t.Errorf("write %q: %v, want %v", tt.path, err, tt.want)
		}
		var known *model.Error
		if !errors.As(err, &known) || known.Path != tt.path {
			t.Errorf("write %q: error %v does not name the path", tt.path, err)
		}
	}
	if f.SourceText(plan) != "text\n" || f.SourceText("Notes/latin1.md") != "caf\xe9\n" {
		t.Error("a refused write changed the source")
	}
	if v := open(t, f.Workspace, "Notes/latin1.md"); v.Text() != "caf\xe9\n" || !v.ReadOnly() {
		t.Error("a file that is not UTF-8 is not served byte for byte")
	}
}

func TestCreate(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "x\n"})
	res, err := f.Create(t.Context(), "Notes/new/Idea.md", bridge.Write{Text: "---\ntags: [a]\n---\nBody.\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Version.Text(); got != "---\ntags: [a]\n---\nBody.\n" {
		t.Errorf("view %q", got)
	}
	raw := f.SourceText("Notes/new/Idea.md")
	if !strings.HasPrefix(raw, "---\ntags: [a]\n---\n") || diffwrap.Original(raw) == res.Version.Text() {
		t.Errorf("raw %q: front matter plain, body as additions", raw)
	}
	if _, err := f.Create(t.Context(), plan, bridge.Write{Text: "y"}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create over a note: %v", err)
	}
	if f.SourceText(plan) != "x\n" {
		t.Error("create changed an existing note")
	}
}

func TestStructurePolicy(t *testing.T) {
	files := map[string]string{plan: "x\n", "Notes/b.md": "b\n"}
	f := bridgetest.New(t, files, func(o *bridge.Options) { o.Structure = bridge.StructureDeny })
	if _, err := f.Workspace.Rename(t.Context(), plan, "Notes/c.md", bridge.ChangeRequest{}); !errors.Is(err, model.ErrNeedsReview) {
		t.Errorf("rename where it is denied: %v", err)
	}
	if _, err := f.Remove(t.Context(), plan, bridge.ChangeRequest{}); !errors.Is(err, model.ErrNeedsReview) {
		t.Errorf("remove where it is denied: %v", err)
	}
	f = bridgetest.New(t, files, func(o *bridge.Options) { o.Structure = bridge.StructureDirect })
	write(t, f.Workspace, plan, bridge.Write{Text: "y\n", By: model.Author{Name: "ann"}})
	if err := f.Mkdir(t.Context(), "Notes/sub", bridge.ChangeRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Workspace.Rename(t.Context(), plan, "Notes/sub/c.md", bridge.ChangeRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(t.Context(), plan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("old name: %v", err)
	}
	list, err := f.Suggestions(t.Context(), "Notes/sub/c.md")
	if err != nil || len(list) != 1 || list[0].Author != "ann" {
		t.Errorf("suggestions did not move with the note: %+v, %v", list, err)
	}
	if _, err := f.Remove(t.Context(), "Notes/b.md", bridge.ChangeRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(t.Context(), "Notes/b.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed note: %v", err)
	}
}

func TestDirectMode(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "a {--old--}{++new++} b\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	write(t, f.Workspace, plan, bridge.Write{Text: "A new b and more\n"})
	if got, want := f.SourceText(plan), "A {--old--}{++new++} b and more\n"; got != want {
		t.Errorf("source %q, want %q", got, want)
	}
	write(t, f.Workspace, plan, bridge.Write{Text: "A newer b and more\n"})
	if got := diffwrap.Accepted(f.SourceText(plan)); got != "A newer b and more\n" {
		t.Errorf("accepted view %q", got)
	}
}

func TestPersonsChangesArrive(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n", "Notes/sub/x.md": "x\n"})
	before := open(t, f.Workspace, plan)
	f.Person(plan, "one\ntwo\n")
	after := open(t, f.Workspace, plan)
	if after.Text() != "one\ntwo\n" || !after.ModTime().After(before.ModTime()) || after.Seq() <= before.Seq() {
		t.Errorf("version %+v after %+v", after, before)
	}
	f.Person("Notes/new.md", "hello\n")
	if v := open(t, f.Workspace, "Notes/new.md"); v.Text() != "hello\n" {
		t.Errorf("new note %q", v.Text())
	}
	f.Rename("Notes/sub", "Notes/moved")
	if v := open(t, f.Workspace, "Notes/moved/x.md"); v.Text() != "x\n" {
		t.Errorf("moved note %q", v.Text())
	}
	f.Delete(plan)
	if _, err := f.Open(t.Context(), plan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted note: %v", err)
	}
}

func TestAcceptByHandKeepsModTime(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "a b\n"})
	written := write(t, f.Workspace, plan, bridge.Write{Text: "a c\n"}).Version
	f.Person(plan, "a c\n") // a person accepts in an editor
	if v := open(t, f.Workspace, plan); v.Raw() != "a c\n" || !v.ModTime().Equal(written.ModTime()) {
		t.Errorf("accepting moved the modification time: %v, was %v (raw %q)", v.ModTime(), written.ModTime(), v.Raw())
	}
}

// The time in a walk and in the status is Stat's, before a note is read and after it changed.
func TestModTime(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "a b\n", "Notes/pic.png": "x"})
	same := func(when string, p model.Path) {
		t.Helper()
		var got, newest time.Time
		err := f.Walk(t.Context(), "", func(e bridge.Info) error {
			if e.Path == p {
				got = e.ModTime
			}
			if e.Kind != model.KindDir && e.ModTime.After(newest) {
				newest = e.ModTime
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat(t.Context(), p)
		if err != nil || !got.Equal(info.ModTime) {
			t.Errorf("%s: %v, Stat says %v, %v", when, got, info.ModTime, err)
		}
		st, err := f.Status(t.Context())
		if err != nil || !st.Roots[0].Changed.Equal(newest) {
			t.Errorf("%s: the status says %v, %v, want %v", when, st.Roots[0].Changed, err, newest)
		}
	}
	same("unread", plan)
	same("a file", "Notes/pic.png")
	same("a folder", "Notes")
	write(t, f.Workspace, plan, bridge.Write{Text: "a c\n"})
	same("written", plan)
	f.Person(plan, "a c\n") // a person accepts in an editor
	same("accepted", plan)
	f.Person(plan, "a d\n")
	same("changed by a person", plan)
}

// The status counts the suggestions that the lists show, also of a vault that is offline.
func TestStatusCountsSuggestionsOffline(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "a {--b--}{++c++}\n"})
	before := pendingOf(t, f.Workspace)
	f.SetOffline("Notes", true)
	list := pendingOf(t, f.Workspace)
	if st, err := f.Status(t.Context()); err != nil || len(before) == 0 || len(list) != len(before) || st.Suggestions != len(list) || !st.Roots[0].Offline {
		t.Errorf("%d suggestions listed, %d before, the status is %+v, %v", len(list), len(before), st, err)
	}
}

func TestResolve(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"Notes/Plan.md": "", "Notes/Caf\u00e9.md": "", "Notes/a.md": "", "Notes/A.md": "", "Notes/sub/Deep Note.md": "",
	})
	f.SetMountpoint("/mnt/x")
	for in, want := range map[string]model.Path{
		"Notes/Plan.md": "Notes/Plan.md", "/Notes/Plan.md": "Notes/Plan.md", "Notes/Plan": "Notes/Plan.md",
		"/mnt/x/Notes/Plan.md": "Notes/Plan.md", "notes/plan": "Notes/Plan.md", "Notes/Cafe\u0301": "Notes/Caf\u00e9.md",
		"Notes/a": "Notes/a.md", "Notes/A.md": "Notes/A.md", "Notes/SUB/deep note": "Notes/sub/Deep Note.md", "Notes": "Notes",
	} {
		if got, err := f.Resolve(in); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := f.Resolve("Notes/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Resolve of nothing: %v", err)
	}
}

func TestLinks(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"Notes/A.md": "to [[B]] and [[Gone]]\n", "Notes/B.md": "back to [[A]]\n", "Notes/C.md": "[[A]]\n",
	})
	got, err := f.Links(t.Context(), "Notes/A.md")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "{[Notes/B.md Notes/C.md] [Notes/B.md] [Gone] []}" {
		t.Errorf("links %v", got)
	}
	f.Person("Notes/C.md", "nothing\n")
	f.Person("Notes/Gone.md", "here now\n")
	if got, err = f.Links(t.Context(), "Notes/A.md"); err != nil || fmt.Sprint(got) != "{[Notes/B.md] [Notes/B.md Notes/Gone.md] [] []}" {
		t.Errorf("links after changes %v, %v", got, err)
	}
}

// TestWritersAndAPerson lets agents edit and a user save the same note at the
// same time: every acknowledged word must be in the end result exactly once.
func TestWritersAndAPerson(t *testing.T) {
	const agents, rounds = 4, 25
	var base strings.Builder
	for i := range 40 {
		fmt.Fprintf(&base, "line %d of the note\n", i)
	}
	f := bridgetest.New(t, map[string]string{plan: base.String()})
	var wg sync.WaitGroup
	for a := range agents {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(a), 1))
			for i := range rounds {
				v, err := f.Open(t.Context(), plan)
				if err != nil {
					t.Error(err)
					return
				}
				lines := strings.SplitAfter(v.Text(), "\n")
				at := rng.IntN(len(lines))
				text := strings.Join(lines[:at], "") + fmt.Sprintf("agent%d-%d-\n", a, i) + strings.Join(lines[at:], "")
				if _, err := f.Write(t.Context(), plan, bridge.Write{Base: v, Text: text}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	person := f.Source("Notes")
	for i := range rounds {
		saveUnder(t, person, "Plan.md", fmt.Sprintf("person-%d-\n", i))
	}
	wg.Wait()
	// A write reads the file again: the user's last save may be newer than what the workspace was told.
	v := open(t, f.Workspace, plan)
	if _, err := f.Write(t.Context(), plan, bridge.Write{Base: v, Text: v.Text() + "end\n"}); err != nil {
		t.Fatal(err)
	}
	text := open(t, f.Workspace, plan).Text()
	for a := range agents {
		for i := range rounds {
			if word := fmt.Sprintf("agent%d-%d-\n", a, i); strings.Count(text, word) != 1 {
				t.Errorf("%q is %d times in the note", word, strings.Count(text, word))
			}
		}
	}
	for i := range rounds {
		if line := fmt.Sprintf("person-%d-\n", i); strings.Count(text, line) != 1 {
			t.Errorf("%q is %d times in the note", line, strings.Count(text, line))
		}
	}
}

// saveUnder puts a line at the top of a note, as an editor does that takes care
// not to overwrite others. The workspace is not told.
func saveUnder(t *testing.T, src model.Source, rel, line string) {
	t.Helper()
	for {
		data, stamp, err := src.Read(t.Context(), rel)
		if err != nil {
			t.Fatal(err)
		}
		_, err = src.Replace(t.Context(), rel, model.Replacement{IfMatch: stamp, Data: append([]byte(line), data...), ModTime: time.Now()})
		if err == nil {
			return
		}
		if !errors.Is(err, model.ErrConflict) {
			t.Fatal(err)
		}
	}
}
