package host_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// until waits for something that happens by itself soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limittest.Scaled(time.Minute)); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// serve makes a host over the fixture's workspace and runs it until the test ends.
func serve(t *testing.T, ws *bridge.Workspace) *host.Host {
	t.Helper()
	h, err := host.New(t.Context(), host.Options{Workspace: ws})
	if err != nil {
		t.Fatal(err)
	}
	run(t, h)
	return h
}

// client is a Yjs client of one document, in step with it.
type client struct {
	t    *testing.T
	host *host.Document
	*ycrdt.Doc
}

func connect(t *testing.T, h *host.Host, id string) *client {
	t.Helper()
	d, err := h.Open(t.Context(), id, true)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t, d, ycrdt.NewDoc(ycrdt.Options{})}
	cancel := d.Doc().OnUpdate(func(update []byte, _ any) { c.take(update) })
	t.Cleanup(func() {
		cancel()
		d.Close()
	})
	c.take(d.Doc().EncodeStateAsUpdate(nil))
	return c
}

func (c *client) take(update []byte) {
	if err := c.ApplyUpdate(update, "server"); err != nil {
		c.t.Error(err)
	}
}

// do makes a change in the client's document and sends it.
func (c *client) do(fn func(txn *ycrdt.Txn)) {
	c.t.Helper()
	before := c.EncodeStateVector()
	c.Transact("client", fn)
	if err := c.host.Apply(c.t.Context(), c.EncodeStateAsUpdate(before), host.Origin{User: "ann", Sender: c}); err != nil {
		c.t.Error(err)
	}
}

func (c *client) paths() []string {
	var list []string
	for _, e := range folderdoc.Open(c.Doc).List() {
		list = append(list, e.Path)
	}
	return list
}

func (c *client) has(paths ...string) {
	c.t.Helper()
	if got := c.paths(); !slices.Equal(got, paths) {
		c.t.Errorf("the folder document has %q, want %q", got, paths)
	}
}

func meta(id, typ string) map[string]any { return map[string]any{"id": id, "type": typ, "version": 0} }

func (c *client) set(txn *ycrdt.Txn, path, id string) {
	if err := errors.Join(c.Map("docs").Set(txn, path, id), c.Map("filemeta_v0").Set(txn, path, meta(id, "markdown"))); err != nil {
		c.t.Error(err)
	}
}

func (c *client) delete(txn *ycrdt.Txn, path string) {
	c.Map("docs").Delete(txn, path)
	c.Map("filemeta_v0").Delete(txn, path)
}

func TestFolderDocumentFollowsTree(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n", "Notes/sub/b.md": "b\n"})
	h := serve(t, f.Workspace)
	c := connect(t, h, h.Folders()[0].ID)
	c.has("a.md", "sub", "sub/b.md")
	before, _ := folderdoc.Open(c.Doc).Get("sub/b.md")

	f.Rename("Notes/sub", "Notes/other")
	f.Person("Notes/new.md", "new\n")
	f.Delete("Notes/a.md")
	want := []string{"new.md", "other", "other/b.md"}
	until(t, "the folder document follows", func() bool { return slices.Equal(c.paths(), want) })
	if after, _ := folderdoc.Open(c.Doc).Get("other/b.md"); after.ID != before.ID {
		t.Errorf("a moved note has the id %s, had %s", after.ID, before.ID)
	}
	if id, ok := h.Named("Notes/other/b.md"); !ok || id != before.ID {
		t.Errorf("the note's name stands for %q", id)
	}
}

// A client uploads a note, enters it, renames and deletes it.
func TestClientRestructures(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serve(t, f.Workspace)
	folder := connect(t, h, h.Folders()[0].ID)

	id := folderdoc.NewID()
	note := connect(t, h, id)
	note.do(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "hello 🌍\n") })
	folder.do(func(txn *ycrdt.Txn) { folder.set(txn, "/sub/New.md", id) })
	if got := f.SourceText("Notes/sub/New.md"); got != "hello 🌍\n" {
		t.Errorf("the new file has %q", got)
	}
	// The connection that uploaded it goes on.
	note.do(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "more ") })
	until(t, "the file has what was typed since", func() bool { return f.SourceText("Notes/sub/New.md") == "more hello 🌍\n" })

	folder.do(func(txn *ycrdt.Txn) {
		folder.set(txn, "/Moved.md", id)
		folder.delete(txn, "/sub/New.md")
	})
	if got := f.SourceText("Notes/Moved.md"); got != "more hello 🌍\n" {
		t.Errorf("the moved file has %q", got)
	}
	folder.do(func(txn *ycrdt.Txn) { folder.delete(txn, "/a.md") })
	if _, err := f.Open(t.Context(), "Notes/a.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a deleted note gives %v", err)
	}
	folder.has("Moved.md", "sub")
}

// Who comes second to a name does not get it, and nobody's text is lost.
func TestClientTakesName(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serve(t, f.Workspace)
	folder := connect(t, h, h.Folders()[0].ID)
	first, _ := h.Named("Notes/a.md")

	id := folderdoc.NewID()
	note := connect(t, h, id)
	note.do(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "mine\n") })
	folder.do(func(txn *ycrdt.Txn) { folder.set(txn, "/a.md", id) })
	if e, _ := folderdoc.Open(folder.Doc).Get("a.md"); e.ID != first {
		t.Errorf("the name has the id %s, want %s", e.ID, first)
	}
	if got := f.SourceText("Notes/a.md"); got != "a\n" {
		t.Errorf("the file has %q", got)
	}
	if got := connect(t, h, id).Text("contents").String(); got != "mine\n" {
		t.Errorf("the other document has %q", got)
	}
}

func TestBadNamesAreTakenBack(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serve(t, f.Workspace)
	folder := connect(t, h, h.Folders()[0].ID)
	folder.do(func(txn *ycrdt.Txn) {
		folder.set(txn, "//x.md", folderdoc.NewID())
		folder.set(txn, "/../x.md", folderdoc.NewID())
		folder.set(txn, "/b.md", "not/an/id")
	})
	folder.has("a.md")
}

// A note that nobody has opened has no document; one that is opened has at least
// one struct, and users only of those who wrote.
func TestDocuments(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n", "Notes/empty.md": ""})
	h := serve(t, f.Workspace)
	id, _ := h.Named("Notes/empty.md")
	c := connect(t, h, id)
	if len(c.StateVector()) == 0 {
		t.Error("the document of an empty note has no structs")
	}
	c.do(func(txn *ycrdt.Txn) { c.Text("contents").Insert(txn, 0, "x") })
	ann, ok := c.Map("users").Get("ann")
	if !ok {
		t.Fatal("who wrote is not registered")
	}
	v, _ := ann.(*ycrdt.Map).Get("ids")
	if ids := v.(*ycrdt.Array).Values(); len(ids) != 1 || ids[0] != float64(c.ClientID()) && ids[0] != int64(c.ClientID()) {
		t.Errorf("ann's clients are %v, want %v", ids, c.ClientID())
	}
	if _, err := h.Open(t.Context(), "unknown", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening an unknown id gives %v", err)
	}
	if err := h.Create(t.Context(), "loose-1"); err != nil {
		t.Fatal(err)
	}
	if ok, err := h.Exists("loose-1"); err != nil || !ok {
		t.Errorf("a created document exists: %v, %v", ok, err)
	}
}

// A change of a folder document that was kept and not carried out, because of a
// crash, is carried out at the next start.
func TestFolderDocumentCrash(t *testing.T) {
	src, store := new(bridgetest.Source), new(bridgetest.Store)
	for rel, text := range map[string]string{"a.md": "a\n", "b.md": "b\n"} {
		src.Person(t).Save(rel, text)
	}
	start := func(src model.Source) (*bridge.Workspace, *host.Host) {
		ws, err := bridge.New(bridge.Options{Folders: []bridge.FolderSource{{Name: "Notes", Source: src, Store: store}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := ws.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := host.New(t.Context(), host.Options{Workspace: ws})
		if err != nil {
			t.Fatal(err)
		}
		return ws, h
	}
	_, first := start(src)
	note := connect(t, first, "new-note")
	note.do(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "new\n") })
	folder := connect(t, first, first.Folders()[0].ID)
	b, _ := first.Named("Notes/b.md")
	folder.Transact(nil, func(txn *ycrdt.Txn) {
		folder.set(txn, "/sub/New.md", "new-note")
		folder.delete(txn, "/a.md")
		folder.set(txn, "/c.md", b)
		folder.delete(txn, "/b.md")
	})
	id := model.DocID(first.Folders()[0].ID)
	rec := model.Record{Update: folder.EncodeStateAsUpdate(nil), Ahead: true}
	if _, err := store.Append(id, ".relay/folder", rec); err != nil {
		t.Fatal(err)
	}

	ws, second := start(src)
	connect(t, second, string(id)).has("c.md", "sub", "sub/New.md")
	for p, want := range map[model.Path]string{"Notes/c.md": "b\n", "Notes/sub/New.md": "new\n"} {
		v, err := ws.Open(t.Context(), p)
		if err != nil || v.Text() != want {
			t.Errorf("%s: %v, want %q", p, err, want)
		}
	}
	if _, err := ws.Open(t.Context(), "Notes/a.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening a deleted note gives %v", err)
	}
}

// An older client enters notes in docs alone.
func TestEntryOfOlderClient(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serve(t, f.Workspace)
	folder := connect(t, h, h.Folders()[0].ID)
	note := connect(t, h, "old-1")
	note.do(func(txn *ycrdt.Txn) { note.Text("contents").Insert(txn, 0, "old\n") })
	folder.do(func(txn *ycrdt.Txn) {
		if err := folder.Map("docs").Set(txn, "/old.md", "old-1"); err != nil {
			t.Error(err)
		}
	})
	if got := f.SourceText("Notes/old.md"); got != "old\n" {
		t.Errorf("the file has %q", got)
	}
	folder.do(func(txn *ycrdt.Txn) { folder.Map("docs").Delete(txn, "/old.md") })
	folder.has("a.md")
}

// A folder that is renamed by a program or a person is renamed in one
// transaction, in which every entry keeps its id.
func TestFolderRenameIsOneTransaction(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/sub/a.md": "a\n", "Notes/sub/deep/b.md": "b\n"})
	h := serve(t, f.Workspace)
	c := connect(t, h, h.Folders()[0].ID)
	model := folderdoc.Open(c.Doc)
	before := model.List()
	changes := make(chan []folderdoc.Change, 16)
	defer c.OnUpdate(func([]byte, any) {
		after := model.List()
		changes <- folderdoc.Diff(before, after)
		before = after
	})()
	f.Rename("Notes/sub", "Notes/other")
	select {
	case got := <-changes:
		if len(got) != 1 || got[0].Kind != folderdoc.Renamed || got[0].OldPath != "sub" || got[0].Path != "other" {
			t.Errorf("the first transaction is %+v", got)
		}
	case <-time.After(limittest.Scaled(time.Minute)):
		t.Fatal("no transaction")
	}
	c.has("other", "other/a.md", "other/deep", "other/deep/b.md")
}

// The frontmatter map of a note, which clients write, is theirs alone.
func TestFrontMatterMapIsLeftAlone(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "---\ntags: x\n---\na\n"})
	h := serve(t, f.Workspace)
	id, _ := h.Named("Notes/a.md")
	c := connect(t, h, id)
	c.do(func(txn *ycrdt.Txn) {
		if err := c.Map("frontmatter").Set(txn, "tags", `"x"`); err != nil {
			t.Error(err)
		}
	})
	f.Person("Notes/a.md", "---\ntags: y\n---\nab\n")
	until(t, "the save has come", func() bool { return c.Text("contents").String() == "---\ntags: y\n---\nab\n" })
	if v, _ := c.Map("frontmatter").Get("tags"); v != `"x"` {
		t.Errorf("the map has %v", v)
	}
}
