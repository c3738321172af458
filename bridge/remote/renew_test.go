package remote_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A connection that the server closes with 1008 because its token has expired is
// made again at once, with another token.
func tokenRenewal(t *testing.T) {
	s := startServer(t, "relay-server")
	target := "127.0.0.1:" + s.port
	var asked, refused atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: target})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/auth") {
			asked.Add(1)
		}
		if r.Header.Get("Upgrade") == "" || refused.Add(1) > 3 {
			proxy.ServeHTTP(w, r)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err == nil {
			conn.Close(websocket.StatusPolicyViolation, "Token expired")
		}
	}))
	defer front.Close()
	c, err := open(t, "ys://"+front.Listener.Addr().String(), s.folder, t.TempDir(), direct)
	noError(t, err)
	c.create("Team/Note.md", "note\n")
	c.awaitSent()
	if n := asked.Load(); n < 4 {
		t.Errorf("%d tokens were asked for, want one for each attempt", n)
	}
}

// A server that takes the token no more, and says so only once a connection is
// there, is asked again with growing pauses; what to do is told meanwhile.
func TestRevokedAfterConnecting(t *testing.T) {
	t.Parallel()
	s := startServer(t, "y-websocket")
	var revoked atomic.Bool
	var refused atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + s.port})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !revoked.Load() {
			proxy.ServeHTTP(w, r)
			return
		}
		refused.Add(1)
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			time.Sleep(400 * time.Millisecond) // a server that is far away
			conn.Close(websocket.StatusPolicyViolation, "Token revoked")
		}
	}))
	defer front.Close()
	c, err := open(t, "ws://"+front.Listener.Addr().String(), s.folder, t.TempDir(), direct)
	noError(t, err)
	c.create("Team/Note.md", "note\n")
	c.awaitSent()
	revoked.Store(true)
	s.stop()
	s.start(s.port)
	c.write("Team/Note.md", func(s string) string { return s + "later\n" })
	c.await("what to do is told", func() bool {
		st := c.source.SyncStatus()
		return !st.Connected && st.Unsent > 0 && strings.Contains(st.LastError, "Token revoked") && strings.Contains(st.LastError, "set RELAYFS_TOKEN")
	})
	time.Sleep(5 * time.Second)
	if n := refused.Load(); n > 9 {
		t.Errorf("%d attempts within seconds", n)
	}
	revoked.Store(false)
	c.awaitSent()
}
