package servers

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// front is a server in front of another, which calls before ahead of each request.
func front(t *testing.T, port string, before func(*http.Request)) *httptest.Server {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + port})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// A restarted y-sweet that two clients ask for one document while it loads makes two copies of
// it, and leaves the first client alone with the first copy, whose changes reach nobody. Both
// mounts have the same notes all the same.
func TestServerWithTwoCopies(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	var requests atomic.Int64
	documents := front(t, startServer(t, "s3").port, func(*http.Request) {
		if slow.Load() { // the second copy is ready long after the first
			time.Sleep(need.Scaled(time.Duration(requests.Add(1)) * 200 * time.Millisecond))
		}
	}).URL
	server := startServer(t, "y-sweet", "", documents, "0")
	port := server.port
	var again atomic.Bool
	ready, copied := make(chan struct{}), make(chan error, 1)
	second := sync.OnceFunc(func() { // while the first client waits
		time.AfterFunc(need.Scaled(100*time.Millisecond), func() {
			answer, err := http.Get("http://127.0.0.1:" + port + "/d/team/as-update")
			if err == nil {
				answer.Body.Close()
			}
			copied <- err
		})
	})
	at := "ys://" + strings.TrimPrefix(front(t, port, func(r *http.Request) {
		if again.Load() && strings.HasSuffix(r.URL.Path, "/ws/team") {
			<-ready
			second()
		}
	}).URL, "http://")

	s, other := harness.NewSandbox(t), harness.NewSandbox(t)
	flags := []string{"--mode", "direct", "--structure", "direct"}
	m := s.MountAt(t, at+"#Team=team", s.Mkdir(t, "mnt"), flags...)
	notes := filepath.Join(m.Dir, "Team")
	want := map[string]string{"before.md": "before\n"}
	write := func(name, text string) {
		t.Helper()
		want[name] = text
		if err := os.WriteFile(filepath.Join(notes, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before.md", "before\n")
	awaitAcknowledged(t, s)
	server.stop()
	again.Store(true)
	slow.Store(true)
	startServer(t, "y-sweet", "", documents, port)
	close(ready)
	if err := <-copied; err != nil {
		t.Fatal(err)
	}
	awaitAcknowledged(t, s)
	slow.Store(false)
	write("after.md", "after\n")
	awaitAcknowledged(t, s)

	n := other.MountAt(t, at+"#Team=team", other.Mkdir(t, "mnt"), flags...)
	wantServerNotes(t, filepath.Join(n.Dir, "Team"), want)
	write("later.md", "later\n")
	wantServerNotes(t, filepath.Join(n.Dir, "Team"), want)
	m.Stop(t)
	n.Stop(t)
}
