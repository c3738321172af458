package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func attachment(id, text string, synctime int64) map[string]any {
	return map[string]any{"id": id, "type": "image", "version": 0, "mimetype": "image/png", "hash": hashOf(text), "synctime": float64(synctime)}
}

// setFile enters an attachment, or other bytes of one.
func (c *client) setFile(path, id, text string, synctime int64) {
	c.t.Helper()
	c.do(func(txn *ycrdt.Txn) {
		if err := c.Map("filemeta_v0").Set(txn, path, attachment(id, text, synctime)); err != nil {
			c.t.Error(err)
		}
	})
}

// entry waits until the folder document has an attachment with the hash of text.
func (c *client) entry(path, text string) (e folderdoc.Entry) {
	c.t.Helper()
	until(c.t, path+" is entered", func() bool {
		e, _ = folderdoc.Open(c.Doc).Get(path)
		return e.Hash == hashOf(text)
	})
	return e
}

func content(t *testing.T, h *host.Host, id, hash string) string {
	t.Helper()
	a, err := h.Attachment(id, hash)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	data, err := io.ReadAll(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The files of the vault are in the folder document, with their hashes.
func TestAttachmentsOfVault(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n", "Notes/sub/p.png": "old", "Notes/c.canvas": "{}"})
	h := serveBlobs(t, f.Workspace)
	c := connect(t, h, h.Folders()[0].ID)
	old := c.entry("sub/p.png", "old")
	if old.Type != folderdoc.TypeImage || old.Mimetype != "image/png" || old.SyncTime == 0 {
		t.Errorf("the entry is %+v", old)
	}
	if got := content(t, h, old.ID, ""); got != "old" {
		t.Errorf("its content is %q", got)
	}
	f.Person("Notes/sub/p.png", "new")
	if e := c.entry("sub/p.png", "new"); e.ID != old.ID {
		t.Errorf("a changed file has the id %s, had %s", e.ID, old.ID)
	}
	f.Rename("Notes/sub/p.png", "Notes/q.png")
	if e := c.entry("q.png", "new"); e.ID != old.ID {
		t.Errorf("a moved file has the id %s, had %s", e.ID, old.ID)
	}
	f.Delete("Notes/q.png")
	until(t, "the entry goes", func() bool {
		_, ok := folderdoc.Open(c.Doc).Get("q.png")
		return !ok
	})
	if _, err := h.Attachment(old.ID, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its content is %v", err)
	}
	if _, ok := folderdoc.Open(c.Doc).Get("c.canvas"); ok {
		t.Error("a canvas is offered as an attachment")
	}
}

// serveBlobs is serve for a host that takes uploads.
func serveBlobs(t *testing.T, ws *bridge.Workspace) *host.Host {
	t.Helper()
	h, err := host.New(t.Context(), host.Options{Workspace: ws, Blobs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	run(t, h)
	return h
}

// run runs a host until the test ends.
func run(t *testing.T, h *host.Host) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A client uploads bytes, enters them, replaces, renames and deletes them, and
// the vault follows.
func TestClientAttaches(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serveBlobs(t, f.Workspace)
	c := connect(t, h, h.Folders()[0].ID)
	id := folderdoc.NewID()
	upload := func(text string) {
		t.Helper()
		if err := h.Upload(id, hashOf(text), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	upload("one")
	c.setFile("/img/p.png", id, "one", 1_700_000_000_123)
	if got := f.SourceText("Notes/img/p.png"); got != "one" {
		t.Errorf("the new file has %q", got)
	}
	if e := c.entry("img/p.png", "one"); e.ID != id || e.SyncTime != 1_700_000_000_123 {
		t.Errorf("the entry is %+v", e)
	}
	upload("two")
	c.setFile("/img/p.png", id, "two", 1_700_000_000_456)
	if got := f.SourceText("Notes/img/p.png"); got != "two" {
		t.Errorf("the changed file has %q", got)
	}
	if got := content(t, h, id, hashOf("one")); got != "one" {
		t.Errorf("what was replaced is %q", got)
	}
	c.do(func(txn *ycrdt.Txn) {
		if err := c.Map("filemeta_v0").Set(txn, "/q.png", attachment(id, "two", 1_700_000_000_456)); err != nil {
			t.Error(err)
		}
		c.Map("filemeta_v0").Delete(txn, "/img/p.png")
	})
	if got := f.SourceText("Notes/q.png"); got != "two" {
		t.Errorf("the moved file has %q", got)
	}
	c.do(func(txn *ycrdt.Txn) { c.Map("filemeta_v0").Delete(txn, "/q.png") })
	c.has("a.md", "img")
}

// What was not uploaded cannot be entered, and what a person changed meanwhile is
// not overwritten.
func TestAttachmentIsTakenBack(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/p.png": "vault"})
	h := serveBlobs(t, f.Workspace)
	c := connect(t, h, h.Folders()[0].ID)
	e := c.entry("p.png", "vault")
	c.setFile("/new.png", folderdoc.NewID(), "nothing", 1)
	c.has("p.png")
	c.setFile("/p.png", e.ID, "nothing", 1)
	if got := c.entry("p.png", "vault"); got.ID != e.ID || f.SourceText("Notes/p.png") != "vault" {
		t.Errorf("the entry is %+v, the file has %q", got, f.SourceText("Notes/p.png"))
	}
	other := folderdoc.NewID()
	if err := h.Upload(other, hashOf("mine"), strings.NewReader("mine")); err != nil {
		t.Fatal(err)
	}
	c.setFile("/p.png", other, "mine", 1)
	if got := c.entry("p.png", "vault"); got.ID != e.ID || f.SourceText("Notes/p.png") != "vault" {
		t.Errorf("the entry is %+v, the file has %q", got, f.SourceText("Notes/p.png"))
	}
}

func TestUpload(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.md": "a\n"})
	h := serveBlobs(t, f.Workspace)
	if err := h.Upload("x", hashOf("a"), strings.NewReader("b")); !errors.Is(err, host.ErrHash) {
		t.Errorf("other bytes than announced: %v", err)
	}
	for _, bad := range [][2]string{{"../x", hashOf("a")}, {"x", "../../x"}, {"x", strings.ToUpper(hashOf("a"))}, {"", hashOf("a")}} {
		if err := h.Upload(bad[0], bad[1], strings.NewReader("a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if list, err := h.Blobs("x"); err != nil || len(list) != 0 {
		t.Errorf("refused uploads leave %v, %v", list, err)
	}
	if err := h.Upload("x", hashOf("a"), strings.NewReader("a")); err != nil {
		t.Fatal(err)
	}
	if list, err := h.Blobs("x"); err != nil || len(list) != 1 || list[0].Name() != hashOf("a") || list[0].Size() != 1 {
		t.Errorf("uploads are %v, %v", list, err)
	}
	if err := errors.Join(h.Discard("x", hashOf("a")), h.Discard("x", "")); err != nil {
		t.Error(err)
	}
	if _, err := h.Attachment("x", hashOf("a")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was discarded: %v", err)
	}
}
