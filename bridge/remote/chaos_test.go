package remote_test

import (
	"context"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
)

// chaos is a proxy that loses, repeats, delays and cuts. What a client sends is
// lost only together with its connection, as on a real network; what a server
// sends is lost without a word, as by a full queue of relay-server.
type chaos struct {
	*httptest.Server
	target string // host:port
	calm   atomic.Bool
	// deaf loses every update that the server sends, without a word.
	deaf atomic.Bool
	// heard, if set before the first connection, gets what clients send.
	heard func(frame []byte)
	// mangle, if set before the first connection, returns what arrives instead of a frame of the server.
	mangle func(frame []byte) [][]byte
	// without, if set before the first connection, is the name of a document that the server
	// does not answer about.
	without string
}

func newChaos(t *testing.T, s *server) *chaos {
	c := &chaos{target: "127.0.0.1:" + s.port}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.target})
	proxy.ErrorLog = log.New(io.Discard, "", 0) // clients that end cancel their requests
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			proxy.ServeHTTP(w, r)
			return
		}
		c.relay(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

// address is the proxy's in the place of the server's.
func (c *chaos) address(s *server) string {
	return strings.Replace(s.address(), "127.0.0.1:"+s.port, c.Listener.Addr().String(), 1)
}

func (c *chaos) relay(w http.ResponseWriter, r *http.Request) {
	if path.Base(r.URL.Path) == c.without {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	server, _, err := websocket.Dial(r.Context(), "ws://"+c.target+r.URL.RequestURI(), nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.CloseNow()
	client, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer client.CloseNow()
	server.SetReadLimit(-1)
	client.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var wg sync.WaitGroup
	for _, way := range [][2]*websocket.Conn{{client, server}, {server, client}} {
		wg.Go(func() {
			defer cancel()
			c.pump(ctx, way[0], way[1], way[0] == server)
		})
	}
	wg.Wait()
}

func (c *chaos) pump(ctx context.Context, from, to *websocket.Conn, fromServer bool) {
	for {
		kind, frame, err := from.Read(ctx)
		if err != nil {
			return
		}
		if fromServer && c.mangle != nil {
			for _, frame := range c.mangle(frame) {
				if to.Write(ctx, kind, frame) != nil {
					return
				}
			}
			continue
		}
		times := 1
		isUpdate := len(frame) > 2 && frame[0] == 0 && frame[1] == 2
		if !fromServer && c.heard != nil {
			c.heard(frame)
		}
		if fromServer && isUpdate && c.deaf.Load() {
			continue
		}
		if !c.calm.Load() {
			switch n := rand.IntN(100); {
			case n < 2:
				return
			case n < 12 && fromServer:
				times = 0
			case n < 20 && isUpdate:
				times = 2
			case n < 40:
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			}
		}
		for range times {
			if err := to.Write(ctx, kind, frame); err != nil {
				return
			}
		}
	}
}

// soak is how long tests of endurance run: RELAYFS_SOAK, or a moment.
func soak(t *testing.T, moment time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("RELAYFS_SOAK")
	if text == "" {
		return moment
	}
	d, err := time.ParseDuration(text)
	noError(t, err)
	return d
}

// Three clients on a bad network end with the same bytes, and with every word
// that any of them wrote.
func TestChaos(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel() // endurance takes as long as it takes
			endure(t, sharedServer(t, kind))
		})
	}
}

func endure(t *testing.T, s *server) {
	const moment = 1500 * time.Millisecond
	long, pause, resync := soak(t, moment), time.Millisecond, 300*time.Millisecond
	if long > moment {
		pause, resync = 20*time.Millisecond, 3*time.Second // or the notes become books, and answers come late
	}
	first := mustOpen(t, s, direct)
	first.patience += long
	paths := []string{"One.md", "Two.md"}
	for _, path := range paths {
		first.create(model.Path("Team/"+path), "start\n")
	}
	first.awaitSent()
	proxy := newChaos(t, s)
	impatient := func(o *remote.Options, b *bridge.Options) {
		o.Resync = resync
		b.Mode = bridge.Direct
	}
	var clients []*client
	for range 3 {
		c, err := open(t, proxy.address(s), s.folder, t.TempDir(), impatient)
		for err != nil { // the first contact may be cut, too
			c, err = open(t, proxy.address(s), s.folder, t.TempDir(), impatient)
		}
		c.patience += long
		clients = append(clients, c)
	}
	until := time.Now().Add(long)
	words := make([]int, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		for _, path := range paths {
			c.await(path, func() bool { _, err := c.Open(t.Context(), model.Path("Team/"+path)); return err == nil })
		}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) // the network is chance, too: no run can be repeated
			for time.Now().Before(until) {
				c.randomEdits(r, paths[:1], 1)
				c.write(model.Path("Team/"+paths[1]), func(text string) string {
					return text + string(rune('A'+i))
				})
				words[i]++
				time.Sleep(pause)
			}
		})
	}
	wg.Wait()
	proxy.calm.Store(true)
	for _, c := range clients {
		c.awaitSent()
	}
	agree(t, paths, append([]*client{first}, clients...), []*person{s.person()})
	v, err := first.Open(t.Context(), "Team/Two.md")
	noError(t, err)
	for i, n := range words {
		if got := strings.Count(v.Raw(), string(rune('A'+i))); got != n {
			t.Errorf("%d of the %d letters of client %d are there", got, n, i)
		}
	}
}
