package relay_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/relay"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// fetches is a proxy that counts who asks for whole documents.
func fetches(t *testing.T, s *server) (address string, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + s.port})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // clients that end cancel their requests
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/as-update") {
			count.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return "ys://" + front.Listener.Addr().String(), count
}

// startFilled starts a server whose vault has n notes.
func startFilled(t *testing.T, n int) *server {
	t.Helper()
	s := startServer(t, "embedded")
	s.stop()
	for i := range n {
		noError(t, os.WriteFile(filepath.Join(s.own.vault, fmt.Sprintf("%d.md", i)), []byte("x\n"), 0o600))
	}
	s.start("0")
	return s
}

// A large folder of relay-server is followed on one socket: a restart fetches only
// what has changed meanwhile, and changes are told.
func TestFollowsLargeFolder(t *testing.T) {
	const notes = 150
	s := startFilled(t, notes)
	address, count := fetches(t, s)
	dir := t.TempDir()
	c, err := open(t, address, s.folder, dir, direct)
	noError(t, err)
	c.await("the notes", func() bool { return c.source.SyncStatus().Unfetched == 0 && known(c) == notes })
	c.stop()

	other := mustOpen(t, s, direct)
	other.awaitText("Team/7.md", "x\n")
	other.write("Team/7.md", func(text string) string { return text + "while it was away\n" })
	other.awaitSent()
	before := count.Load()
	c, err = open(t, address, s.folder, dir, direct)
	noError(t, err)
	c.awaitText("Team/7.md", "x\nwhile it was away\n")
	for i := range 5 { // told one after the other
		p := bridge.Path(fmt.Sprintf("Team/%d.md", 100+i))
		other.write(p, func(text string) string { return text + "live\n" })
		c.awaitText(p, "x\nlive\n")
	}
	if n := count.Load() - before; n > notes/2 {
		t.Errorf("%d of %d notes were fetched again", n, notes)
	}
}

// fsync's promise: what the server has acknowledged, and what it has not.
func TestAcknowledged(t *testing.T) {
	onEach(t, func(t *testing.T, s *server) {
		c := mustOpen(t, s, direct)
		c.create("Team/Note.md", "note\n")
		c.await("the acknowledgement", func() bool { return c.Acknowledged(t.Context(), "Team/Note.md") })
		other := mustOpen(t, s, direct)
		other.awaitText("Team/Note.md", "note\n")
		s.stop()
		c.await("the loss of the server", func() bool { return !c.source.SyncStatus().Connected })
		c.write("Team/Note.md", func(text string) string { return text + "offline\n" })
		if c.Acknowledged(t.Context(), "Team/Note.md") {
			t.Error("a server that is away has acknowledged a write")
		}
	})
}

// A first sync that was interrupted goes on where it was.
func TestFirstSyncGoesOn(t *testing.T) {
	const notes = 150
	s := startFilled(t, notes)
	address, count := fetches(t, s)
	dir := t.TempDir()
	var progress atomic.Int64
	watched := func(o *relay.Options, _ *bridge.Options) {
		o.Progress = func(p relay.Progress) { progress.Store(int64(p.Fetched)) }
	}
	c, err := open(t, address, s.folder, dir, direct, watched)
	noError(t, err)
	c.await("a third", func() bool { return progress.Load() > notes/3 })
	c.stop()
	there, before := progress.Load(), count.Load()
	c, err = open(t, address, s.folder, dir, direct, watched)
	noError(t, err)
	c.await("the rest", func() bool { return progress.Load() == notes })
	if n := count.Load() - before; n > notes-there+16 { // those that were under way
		t.Errorf("%d were there, and %d of %d were fetched again", there, n, notes)
	}
}

// People see who edits, and where.
func TestPresence(t *testing.T) {
	onEach(t, func(t *testing.T, s *server) {
		p := s.person()
		p.do("create", args{"path": "Note.md", "text": "one two\n"})
		c := mustOpen(t, s, direct, func(o *relay.Options, _ *bridge.Options) { o.Author = "claude" })
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
