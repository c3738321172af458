package remote_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// fetched counts how often each document was asked for as a whole, by its name.
type fetched struct {
	mu    sync.Mutex // protects the following
	times map[string]int
}

// total is how often documents were asked for.
func (f *fetched) total() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, times := range f.times {
		n += times
	}
	return n
}

// of is how often the documents with the ids were asked for.
func (f *fetched) of(ids []model.DocID) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, times := range f.times {
		if slices.ContainsFunc(ids, func(id model.DocID) bool { return strings.HasSuffix(name, string(id)) }) {
			n += times
		}
	}
	return n
}

// fetches is a proxy that counts who asks for whole documents.
func fetches(t *testing.T, s *server) (address string, count *fetched) {
	t.Helper()
	count = &fetched{times: make(map[string]int)}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + s.port})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // clients that end cancel their requests
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutSuffix(r.URL.Path, "/as-update"); ok {
			count.mu.Lock()
			count.times[name]++
			count.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return "ys://" + front.Listener.Addr().String(), count
}

// startFilled starts a server whose folder has n notes.
func startFilled(t *testing.T, n int) *server {
	t.Helper()
	s := startServer(t, "relay-server")
	put(t, s.own, s.folder, n, func(int) string { return "x\n" })
	return s
}

// A large folder of relay-server is followed on one socket: a restart fetches only
// what has changed meanwhile, and changes are told.
func TestFollowsLargeFolder(t *testing.T) {
	t.Parallel()
	const notes = 150
	s := startFilled(t, notes)
	address, count := fetches(t, s)
	dir := t.TempDir()
	// Whole documents are fetched here without a channel, so that the server tells nothing of
	// them: comparisons find what has changed.
	often := func(o *remote.Options, _ *bridge.Options) { o.Resync = need.Scaled(time.Second) }
	c, err := open(t, address, s.folder, dir, direct, often)
	noError(t, err)
	c.await("the notes", func() bool { return c.source.SyncStatus().Unfetched == 0 && known(c) == notes })
	c.stop()

	other := mustOpen(t, s, direct)
	other.awaitText("Team/7.md", "x\n")
	other.write("Team/7.md", func(text string) string { return text + "while it was away\n" })
	other.awaitSent()
	before := count.total()
	c, err = open(t, address, s.folder, dir, direct, often)
	noError(t, err)
	c.awaitText("Team/7.md", "x\nwhile it was away\n")
	for i := range 5 { // told one after the other
		p := model.Path(fmt.Sprintf("Team/%d.md", 100+i))
		other.write(p, func(text string) string { return text + "live\n" })
		c.awaitText(p, "x\nlive\n")
	}
	if n := count.total() - before; n > notes/2 {
		t.Errorf("%d of %d notes were fetched again", n, notes)
	}
}

// fsync's promise: what the server has acknowledged, and what it has not.
func TestAcknowledged(t *testing.T) {
	t.Parallel()
	onEach(t, alone, func(t *testing.T, s *server) {
		c := mustOpen(t, s, direct)
		c.create("Team/Note.md", "note\n")
		c.await("the acknowledgement", func() bool { return c.Acknowledged(t.Context(), "Team/Note.md") })
		other := mustOpen(t, s, direct)
		other.awaitText("Team/Note.md", "note\n")
		s.lose(c)
		c.write("Team/Note.md", func(text string) string { return text + "offline\n" })
		if c.Acknowledged(t.Context(), "Team/Note.md") {
			t.Error("a server that is away has acknowledged a write")
		}
	})
}

// A first sync that was interrupted goes on where it was: what has been told as fetched
// is there, and what is there is not fetched again.
func TestFirstSyncGoesOn(t *testing.T) {
	t.Parallel()
	const notes = 150
	s := startFilled(t, notes)
	address, _ := fetches(t, s)
	dir := t.TempDir()
	var progress atomic.Int64
	watched := func(o *remote.Options, _ *bridge.Options) {
		o.Progress = func(p remote.Progress) { progress.Store(int64(p.Fetched)) }
	}
	c, err := open(t, address, s.folder, dir, direct, watched)
	noError(t, err)
	c.await("a third", func() bool { return progress.Load() > notes/3 })
	c.stop()
	there := keptNotes(t, dir)
	if told := progress.Load(); int64(len(there)) < told {
		t.Errorf("%d were told as fetched, and %d are there", told, len(there))
	}
	address, count := fetches(t, s) // without what is still on its way to the first one
	c, err = open(t, address, s.folder, dir, direct)
	noError(t, err)
	c.await("the rest", func() bool { return c.source.SyncStatus().Unfetched == 0 && known(c) == notes })
	if n := count.of(there); n > 0 {
		t.Errorf("%d were there, and %d of them were fetched again", len(there), n)
	}
}

// keptNotes are the notes that the store of a client which has ended has.
func keptNotes(t *testing.T, dir string) []model.DocID {
	t.Helper()
	st, err := store.Open(filepath.Join(dir, "store.db"), store.Options{})
	noError(t, err)
	kept, err := st.DocIDs()
	noError(t, errors.Join(err, st.Close()))
	return slices.DeleteFunc(kept, func(id model.DocID) bool { return id == "folder" || id == "drafts" })
}

// People see who edits, and where.
func TestPresence(t *testing.T) {
	t.Parallel()
	onEach(t, sharedServer, func(t *testing.T, s *server) {
		p := s.person()
		p.do("create", args{"path": "Note.md", "text": "one two\n"})
		c := mustOpen(t, s, direct, func(o *remote.Options, _ *bridge.Options) { o.Author = "claude" })
		c.awaitText("Team/Note.md", "one two\n")
		c.write("Team/Note.md", func(string) string { return "one two three\n" })
		var state struct {
			User   struct{ Name string }
			Cursor struct{ Anchor, Head map[string]any }
		}
		p.do("awareness", args{"path": "Note.md", "name": "claude (agent)"}, &state)
		if state.User.Name != "claude (agent)" || state.Cursor.Head["tname"] != "contents" {
			t.Errorf("state is %+v", state)
		}
	})
}

// A server that pings all the time gets its answers.
func TestPings(t *testing.T) {
	t.Parallel()
	pinged := make(chan error, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		doc := ycrdt.NewDoc(ycrdt.Options{})
		go func() {
			for {
				err := conn.Ping(r.Context())
				pinged <- err
				if err != nil {
					return
				}
			}
		}()
		for {
			_, frame, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			if f, err := ysync.Decode(frame); err == nil && f.Type == ysync.Sync && f.Step == ysync.Step1 {
				_ = conn.Write(r.Context(), websocket.MessageBinary, ysync.AppendStep2(nil, doc.EncodeStateAsUpdate(nil)))
			}
		}
	}))
	defer srv.Close()
	c, err := open(t, "ws://"+srv.Listener.Addr().String(), "team", t.TempDir(), direct)
	noError(t, err)
	for range 10 {
		select {
		case err := <-pinged:
			noError(t, err)
		case <-time.After(patience):
			t.Fatal("no answer to a ping")
		}
	}
	if !c.source.SyncStatus().Connected {
		t.Error("not connected any more")
	}
}
