package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
)

func share(t *testing.T, ws *bridge.Workspace, p model.Path) *bridge.Shared {
	t.Helper()
	s, err := ws.OpenShared(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// typed inserts text as a Yjs client would.
func typed(pos int, text string) func(*ycrdt.Doc) error {
	return func(doc *ycrdt.Doc) error {
		doc.Transact("client", func(txn *ycrdt.Txn) { doc.Text("contents").Insert(txn, pos, text) })
		return nil
	}
}

func change(t *testing.T, s *bridge.Shared, fn func(*ycrdt.Doc) error) {
	t.Helper()
	if err := s.Change(t.Context(), ann, fn); err != nil {
		t.Fatal(err)
	}
}

// until waits for something that happens by itself soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limittest.Scaled(time.Minute)); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func TestSharedChange(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"})
	s := share(t, f.Workspace, plan)
	var mu sync.Mutex
	var events []model.Event
	defer f.Subscribe(func(ev model.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, ev)
	})()
	change(t, s, typed(3, " two"))
	if got := open(t, f.Workspace, plan).Text(); got != "one two\n" {
		t.Errorf("a reader sees %q", got)
	}
	mu.Lock()
	if len(events) != 1 || events[0].Kind != model.EventChanged || !events[0].ViewChanged || events[0].Origin != nil {
		t.Errorf("events are %+v", events)
	}
	mu.Unlock()
	until(t, "the file has the text", func() bool { return f.SourceText(plan) == "one two\n" })
}

func TestSharedSeesOthers(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"})
	s := share(t, f.Workspace, plan)
	peer := ycrdt.NewDoc(ycrdt.Options{})
	if err := peer.ApplyUpdate(s.Doc().EncodeStateAsUpdate(nil), nil); err != nil {
		t.Fatal(err)
	}
	defer s.Doc().OnUpdate(func(update []byte, _ any) {
		if err := peer.ApplyUpdate(update, nil); err != nil {
			t.Error(err)
		}
	})()
	write(t, f.Workspace, plan, bridge.Write{Text: "one more\n", By: model.Author{Name: "claude"}})
	f.Person(plan, "zero\n"+f.SourceText(plan))
	change(t, s, typed(0, "typed\n"))
	if got := peer.Text("contents").String(); got != "typed\nzero\none{++ more++}\n" {
		t.Errorf("the client has %q", got)
	}
}

// A program that has read before a client typed writes after it: at once in the
// file, with both.
func TestSharedAndStaleWriter(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one two three\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	s := share(t, f.Workspace, plan)
	base := open(t, f.Workspace, plan)
	change(t, s, typed(0, "typed "))
	write(t, f.Workspace, plan, bridge.Write{Bases: []*model.Version{base}, Text: "one 2 three\n"})
	if got, want := f.SourceText(plan), "typed one 2 three\n"; got != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
	if got := s.Doc().Text("contents").String(); got != f.SourceText(plan) {
		t.Errorf("the client has %q", got)
	}
}

// A person saves a file that is behind: both are in it afterwards.
func TestSharedAndPerson(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\n"})
	s := share(t, f.Workspace, plan)
	change(t, s, typed(3, " typed"))
	f.Person(plan, "one\ntwo saved\n")
	change(t, s, typed(0, "more "))
	const want = "more one typed\ntwo saved\n"
	until(t, "the file has both", func() bool { return f.SourceText(plan) == want })
	if got := s.Doc().Text("contents").String(); got != want {
		t.Errorf("the document has %q", got)
	}
}

// A process that is killed after it acknowledged: the next one finds the change
// and puts it into the file, whatever a person did with that meanwhile.
func TestSharedCrash(t *testing.T) {
	for name, tc := range map[string]struct {
		saved, want string
		half        bool // the file got half of it before
	}{
		"the file as it was":           {"one\ntwo\n", "one typed\ntwo\n", false},
		"a person saved meanwhile":     {"one\ntwo saved\n", "one typed\ntwo saved\n", false},
		"the file was written in time": {"one typed\ntwo\n", "one typed\ntwo\n", false},
		"of half of it":                {"one ty\ntwo\n", "one typed\ntwo\n", true},
		"half of it, and a person":     {"one ty\ntwo saved\n", "one typed\ntwo saved\n", true},
		"everything was deleted":       {"", " typed", false},
	} {
		t.Run(name, func(t *testing.T) {
			src, store := new(bridgetest.Source), new(bridgetest.Store)
			src.Person(t).Save("Plan.md", "one\ntwo\n")
			first := process(t, deafSource{src}, store)
			s, err := first.OpenShared(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			change(t, s, typed(3, " "))
			change(t, s, typed(4, "ty"))
			change(t, s, typed(6, "ped"))

			if tc.half {
				sum := model.SumOf("one ty\ntwo\n")
				if err := store.Place(s.ID(), 3, model.Save{Post: model.Stamp{Inode: 9}, Sum: sum[:]}); err != nil {
					t.Fatal(err)
				}
			}
			src.Person(t).Save("Plan.md", tc.saved)
			second := process(t, src, store)
			if got := open(t, second, plan).Text(); got != tc.want {
				t.Errorf("a reader sees %q, want %q", got, tc.want)
			}
			until(t, "the file has it", func() bool { return src.Person(t).Content("Plan.md") == tc.want })
			third := process(t, src, store)
			if got := share(t, third, plan).Doc().Text("contents").String(); got != tc.want {
				t.Errorf("the document has %q after another start", got)
			}
		})
	}
}

// deafSource takes no writes: a process that is killed before it can write.
type deafSource struct{ *bridgetest.Source }

func (deafSource) Replace(context.Context, string, model.Replacement) (model.Stamp, error) {
	return model.Stamp{}, model.ErrOffline
}

func TestSharedRenameAndRemove(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"})
	s := share(t, f.Workspace, plan)
	change(t, s, typed(0, "typed "))
	person := bridge.Restructure{Person: true}
	if _, err := f.Workspace.Rename(t.Context(), plan, "Notes/Other.md", person); err != nil {
		t.Fatal(err)
	}
	if got := f.SourceText("Notes/Other.md"); got != "typed one\n" {
		t.Errorf("the renamed file has %q", got)
	}
	change(t, s, typed(0, "still "))
	if _, err := f.Workspace.Remove(t.Context(), "Notes/Other.md", person); err != nil {
		t.Fatal(err)
	}
	<-s.Over()
	if err := s.Change(t.Context(), ann, typed(0, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("changing a removed note gives %v", err)
	}
}

func TestSharedRefuses(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n", "Notes/Bad.md": "\xff\n"}, func(o *bridge.Options) { o.ReadOnly = true })
	if _, err := f.OpenShared(t.Context(), "Notes/Bad.md"); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("sharing what is not UTF-8 gives %v", err)
	}
	s := share(t, f.Workspace, plan)
	if err := s.Change(t.Context(), ann, typed(0, "x")); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("changing a note of a read-only workspace gives %v", err)
	}
}

func TestAdopt(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n"})
	doc := ycrdt.NewDoc(ycrdt.Options{})
	if err := typed(0, "new\n")(doc); err != nil {
		t.Fatal(err)
	}
	s, err := f.Adopt(t.Context(), "Notes/sub/New.md", "the-id", doc, ann)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := f.SourceText("Notes/sub/New.md"); got != "new\n" {
		t.Errorf("the file has %q", got)
	}
	if id, err := f.DocIDOf("Notes/sub/New.md", "other"); err != nil || id != "the-id" {
		t.Errorf("its document is %q, %v", id, err)
	}
	change(t, s, typed(0, "very "))
	if got := open(t, f.Workspace, "Notes/sub/New.md").Text(); got != "very new\n" {
		t.Errorf("a reader sees %q", got)
	}
	if _, err := f.Adopt(t.Context(), plan, "x", doc, ann); !errors.Is(err, fs.ErrExist) {
		t.Errorf("adopting over a note gives %v", err)
	}
}

// Two hundred clients type at once: every word is there, in the file too.
func TestSharedManyHolders(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: ""})
	var g sync.WaitGroup
	for range 200 {
		g.Go(func() {
			s, err := f.OpenShared(t.Context(), plan)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Change(t.Context(), ann, typed(0, "word ")); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	want := strings.Repeat("word ", 200)
	until(t, "the file has every word", func() bool { return f.SourceText(plan) == want })
}

// A person's program saves what it had read before the file was brought up to
// date: what a client typed is not taken for deleted.
func TestSharedAndStalePerson(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: ""})
	s := share(t, f.Workspace, plan)
	for i := range 100 {
		from := f.SourceText(plan)
		start := time.Now()
		change(t, s, typed(0, fmt.Sprintf("typed %d\n", i)))
		until(t, "the file is up to date", func() bool { return strings.HasPrefix(f.SourceText(plan), fmt.Sprintf("typed %d\n", i)) })
		f.Person(plan, from+"saved\n")
		if time.Since(start) > time.Second {
			continue // this machine is too busy to tell who was first
		}
		if got, want := s.Doc().Text("contents").String(), fmt.Sprintf("typed %d\n%ssaved\n", i, from); got != want {
			t.Errorf("the document has %q, want %q", got, want)
		}
		return
	}
	t.Skip("no save came within a second")
}

// A client that puts an object into the text of a note, for which a file has no place,
// finds it gone; what others write afterwards goes where it belongs.
func TestSharedObject(t *testing.T) {
	object := []byte("\x01\x01\x01\x00\x05\x01\x08contents\x02{}\x00") // client 1, in front
	d := newDesk(t, "one two three\n", false)
	s := share(t, d.f.Workspace, plan)
	change(t, s, func(doc *ycrdt.Doc) error { return doc.ApplyUpdate(object, "client") })
	contents := s.Doc().Text("contents")
	if n := contents.Len(); n != len("one two three\n") {
		t.Errorf("the document has %d units", n)
	}
	agentWrites("ann", "one 2 three\n")(d)
	const want = "one {--two--}{++2++} three\n"
	if got := contents.String(); got != want {
		t.Errorf("the document says %q, want %q", got, want)
	}
	until(t, "the file has it", func() bool { return d.f.SourceText(plan) == want })
}
