package bridge_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// openLive serves the notes of files as live documents of the root "Team".
func openLive(t testing.TB, files map[string]string, opts ...func(*bridge.Options)) (*bridgetest.Fixture, *bridgetest.Live) {
	t.Helper()
	live := bridgetest.NewLive(t, bridgetest.NewStore(t))
	for rel, text := range files {
		live.Person(t).Save(rel, text)
	}
	add := func(o *bridge.Options) {
		o.Roots = append(o.Roots, bridge.RootSource{Name: "Team", Source: live, Store: live.Store})
	}
	return bridgetest.New(t, nil, append([]func(*bridge.Options){add}, opts...)...), live
}

// peer edits a document as people do, and waits until the workspace knows.
func peer(t *testing.T, live *bridgetest.Live, rel string, fn func(tx *ycrdt.Txn, text *ycrdt.Text)) {
	t.Helper()
	err := live.Peer(rel, func(doc *ycrdt.Doc) {
		doc.Transact(func(tx *ycrdt.Txn) { fn(tx, doc.Text("contents")) })
	})
	if err == nil {
		err = live.Settle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLiveWrite(t *testing.T) {
	f, live := openLive(t, map[string]string{"Note.md": "The quick fox 🦊.\n"})
	v, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	author := model.Author{Name: "ai", Session: "s1"}
	res, err := f.Write(t.Context(), "Team/Note.md", bridge.Write{Base: v, Text: "The quick red fox 🦊!\n", By: author})
	if err != nil || !res.Changed || res.Suggestions() != 2 {
		t.Fatalf("Write = %+v, %v", res, err)
	}
	if got := res.Version.Text(); got != "The quick red fox 🦊!\n" {
		t.Errorf("text is %q", got)
	}
	d, err := live.Document(t.Context(), "Note.md")
	if err != nil {
		t.Fatal(err)
	}
	h, err := live.Store.Load(d.ID())
	if err != nil || len(h.Records) != 1 || h.Records[0].Author != "ai" || h.Records[0].Len == 0 || len(h.Records[0].Update) == 0 {
		t.Errorf("history is %+v, %v", h, err)
	}
	list, err := f.Suggestions(t.Context(), "Team")
	if err != nil || len(list) != 2 || list[0].Author != "ai" || list[0].Session != "s1" {
		t.Errorf("suggestions are %+v, %v", list, err)
	}
}

// A peer's change is published, and a writer who has not seen it is merged with
// it by the identity of the characters.
func TestLiveStaleWriter(t *testing.T) {
	f, live := openLive(t, map[string]string{"Note.md": "one two three\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	base, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) { text.Insert(tx, 4, "and a half, ") })
	v, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil || v.Text() != "one and a half, two three\n" || !v.ModTime().After(base.ModTime()) {
		t.Fatalf("after the peer's change: %q, %v", v.Text(), err)
	}
	res, err := f.Write(t.Context(), "Team/Note.md", bridge.Write{Base: base, Text: "one two four\n"})
	if err != nil || res.Version.Text() != "one and a half, two four\n" || !res.Merged {
		t.Errorf("Write = %q, %+v, %v", res.Version.Text(), res, err)
	}
}

// Peers and writers at the same time lose nothing of each other.
func TestLiveConcurrentWriters(t *testing.T) {
	f, live := openLive(t, map[string]string{"Note.md": "start\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	const rounds = 50
	var wg sync.WaitGroup
	wg.Go(func() {
		for range rounds {
			err := live.Peer("Note.md", func(doc *ycrdt.Doc) {
				doc.Transact(func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, "p") })
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for range rounds {
				_, err := f.Update(t.Context(), "Team/Note.md", model.Author{Name: "ai"}, nil, func(current *model.Version) (string, error) {
					return current.Text() + "w", nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := live.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	if p, w := strings.Count(v.Text(), "p"), strings.Count(v.Text(), "w"); p != rounds || w != 2*rounds {
		t.Errorf("%d of the peer, %d of the writers are left, want %d and %d", p, w, rounds, 2*rounds)
	}
}

func TestLiveCreateAndRename(t *testing.T) {
	f, live := openLive(t, map[string]string{"Old.md": "old\n"}, func(o *bridge.Options) { o.Structure = bridge.StructureDirect })
	res, err := f.Create(t.Context(), "Team/sub/New.md", bridge.Write{Text: "# New\n\nbody\n", By: model.Author{Name: "ai"}})
	if err != nil || res.Version.Text() != "# New\n\nbody\n" {
		t.Fatalf("Create = %+v, %v", res, err)
	}
	if _, err := f.Create(t.Context(), "Team/Old.md", bridge.Write{Text: "x"}); err == nil {
		t.Error("a note was made over another")
	}
	peer(t, live, "sub/New.md", func(tx *ycrdt.Txn, text *ycrdt.Text) { text.Insert(tx, 0, "<!-- -->\n") })
	v, err := f.Open(t.Context(), "Team/sub/New.md")
	if err != nil || !strings.HasPrefix(v.Text(), "<!-- -->\n") {
		t.Errorf("new note is %q, %v", v.Text(), err)
	}
	list, err := f.Suggestions(t.Context(), "Team")
	if err != nil || len(list) == 0 || list[0].Author != "ai" {
		t.Errorf("suggestions are %+v, %v", list, err)
	}
}

func TestLiveReadOnly(t *testing.T) {
	f, live := openLive(t, map[string]string{"Note.md": "text\n"})
	if err := live.SetReadOnly("Note.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(t.Context(), "Team/Note.md", bridge.Write{Text: "other\n"}); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("Write = %v, want ErrReadOnly", err)
	}
	v, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil || v.Text() != "text\n" {
		t.Errorf("text is %q, %v", v.Text(), err)
	}
}

// A writer who read a note while a peer had something in it that is no text is merged
// with what the note is by then: places in such a text are not places in the document.
func TestLiveWriterOfAnEmbed(t *testing.T) {
	f, live := openLive(t, map[string]string{"Note.md": "one two three\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	embed := append([]byte{1, 1, 1, 0, 5, 1, 8}, "contents\x02{}\x00"...) // of client 1, who comes first
	err := live.Peer("Note.md", func(doc *ycrdt.Doc) {
		if err := doc.ApplyUpdate(embed); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = live.Settle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	base, err := f.Open(t.Context(), "Team/Note.md")
	if err != nil || base.Text() != "one two three\n" || !base.ReadOnly() {
		t.Fatalf("with the embed: %+v, %v", base, err)
	}
	peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) {
		text.Delete(tx, 0, 1)
		text.Insert(tx, 0, "typed ")
	})
	w := bridge.Write{Base: base, Text: "one two NEW three\n"}
	res, err := f.Write(t.Context(), "Team/Note.md", w)
	if err != nil || res.Version.Text() != "typed one two NEW three\n" {
		t.Errorf("Write = %q, %v", res.Version.Text(), err)
	}
}

// If the store cannot store the proposal that shows a new note at its path, the server does not keep the note either.
func TestLiveCreateWithoutItsProposal(t *testing.T) {
	live := bridgetest.NewLive(t, bridgetest.NewStore(t))
	live.Person(t).Save("Plan.md", "plan\n")
	f := bridgetest.New(t, nil, func(o *bridge.Options) {
		server := struct { // a server has no Retract
			model.Source
			model.Structure
			model.Documents
		}{live, live, live}
		o.Roots = append(o.Roots, bridge.RootSource{Name: "Team", Source: server, Store: &cutStore{live.Store, 1}})
	})
	if _, err := f.Workspace.Rename(t.Context(), "Team/Plan.md", "Team/Goal.md", bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Create(t.Context(), "Team/Plan.md", bridge.Write{Text: "new\n", By: agent}); !errors.Is(err, model.ErrNoSpace) {
		t.Errorf("Create: %v", err)
	}
	if list, err := f.ReadDir(t.Context(), "Team"); err != nil || len(list) != 1 {
		t.Errorf("the folder has %+v, %v", list, err)
	}
	if _, err := live.Document(t.Context(), "Plan 1.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the server's note: %v", err)
	}
}

// Text whose delimiters a user has taken away is plain, also after the agent's next write to the same place, and after an
// undo had written the delimiters.
func TestLiveDelimitersTakenAway(t *testing.T) {
	author, user := model.Author{Name: "ai", Session: "s1"}, model.Author{Name: "user"}
	for name, tt := range map[string]struct {
		start, want string
		before      func(t *testing.T, f *bridgetest.Fixture)
		after       string // what the agent writes then; "" for nothing
	}{
		"write": {"one two\n", "one {--two--}{++C ++}B A\n", func(t *testing.T, f *bridgetest.Fixture) { writeLive(t, f, "one B A\n", author) }, "one C B A\n"},
		"undo": {"one {++B A ++}two {--three--}\n", "one B A two {--three--}\n", func(t *testing.T, f *bridgetest.Fixture) {
			list, err := f.Suggestions(t.Context(), "Team")
			if err != nil || len(list) != 2 {
				t.Fatalf("suggestions are %+v, %v", list, err)
			}
			out, err := f.Decide(t.Context(), []string{list[0].ID}, model.Rejected, user)
			if err == nil {
				_, err = f.Undo(t.Context(), out.Batch, user)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, live := openLive(t, map[string]string{"Note.md": tt.start})
			tt.before(t, f)
			peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) {
				for _, delimiter := range []string{"{++", "++}"} {
					text.Delete(tx, strings.Index(text.StringIn(tx), delimiter), len(delimiter))
				}
			})
			if tt.after != "" {
				writeLive(t, f, tt.after, author)
			}
			v, err := f.Open(t.Context(), "Team/Note.md")
			if err != nil || v.Raw() != tt.want || v.Canonical() != tt.want {
				t.Errorf("raw is %q, that is %q, %v, want %q", v.Raw(), v.Canonical(), err, tt.want)
			}
		})
	}
}

func writeLive(t *testing.T, f *bridgetest.Fixture, text string, by model.Author) {
	t.Helper()
	v, err := f.Open(t.Context(), "Team/Note.md")
	if err == nil {
		_, err = f.Write(t.Context(), "Team/Note.md", bridge.Write{Base: v, Text: text, By: by})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A suggestion that no longer deletes a comment has no part in it. The undo writes the delimiters of all suggestions again,
// because a user has typed in one of them.
func TestLiveCommentIsNoLongerDeleted(t *testing.T) {
	d := newDesk(t, "d\ne\n\na {>>why<<} c\n", true)
	for _, do := range []step{
		agentWrites("A", "d\ne\n\na A c\n"), says("d\ne\n\na {--{>--}{-->why<<}--}{++A++} c\n"), rejects(0),
		agentWrites("B", "\na {>>why<<} c\nd\ne\n"), agentWrites("B", "\ne\n\na {>>why<<} c\nd\n"), says("{--d--}\ne\n\na {>>why<<} c{++\nd++}\n"),
		types("d++}", "d user++}"), undoes(0),
	} {
		do(d)
	}
	var authors []string
	for _, s := range pendingOf(t, d.f.Workspace) {
		authors = append(authors, s.Author+": "+s.Old)
	}
	if want := []string{"B: d", "A: {>>why<<}"}; !slices.Equal(authors, want) {
		t.Errorf("pending are %q, want %q, in %q", authors, want, d.raw())
	}
}
