package remote_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/tests/need"
)

// freezer is a TCP proxy that can stop forwarding without closing anything, as a network does that
// drops packets.
type freezer struct {
	net.Listener
	target string

	mu     sync.Mutex    // protects the following
	thawed chan struct{} // closed while it forwards
	conns  []net.Conn
}

func newFreezer(t *testing.T, target string) *freezer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	f := &freezer{Listener: l, target: target, thawed: make(chan struct{})}
	close(f.thawed)
	go f.serve()
	t.Cleanup(func() {
		l.Close()
		f.thaw()
	})
	return f
}

func (f *freezer) serve() {
	for {
		client, err := f.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.target)
		if err != nil {
			client.Close()
			continue
		}
		f.mu.Lock()
		f.conns = append(f.conns, client, server)
		f.mu.Unlock()
		go f.forward(server, client)
		go f.forward(client, server)
	}
}

func (f *freezer) forward(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		f.mu.Lock()
		thawed := f.thawed
		f.mu.Unlock()
		<-thawed
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.thawed = make(chan struct{})
}

// thaw forwards new connections. The old ones end.
func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		c.Close()
	}
	f.conns = nil
	select {
	case <-f.thawed:
	default:
		close(f.thawed)
	}
}

// A server that is gone without a word: the status says since when there is no answer as soon as
// one is overdue, and after the time limit that there is no connection. What was written stays
// unsent, and everything is told to be over when it is.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	resync := need.Scaled(time.Second)
	for _, kind := range []string{"relay-server", "y-websocket", "hocuspocus"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, kind)
			f := newFreezer(t, "127.0.0.1:"+s.port)
			address := strings.Replace(s.address(), "127.0.0.1:"+s.port, f.Addr().String(), 1)
			c, err := open(t, address, s.folder, t.TempDir(), direct, func(o *remote.Options, _ *bridge.Options) { o.Resync = resync })
			noError(t, err)
			c.create("Team/Note.md", "note\n")
			c.awaitSent()
			for _, written := range []string{"", "note\nwritten\n"} {
				frozen := time.Now()
				f.freeze()
				unsent := 0
				if written != "" {
					c.write("Team/Note.md", func(string) string { return written })
					unsent = 1
				}
				looked := frozen
				c.await("the silence", func() bool {
					late := time.Since(looked) > resync/4 // a busy machine may let no look fall into the silence
					looked = time.Now()
					st := c.source.SyncStatus()
					if st.Connected && st.SilentSince.IsZero() {
						return false
					}
					if late && !st.Connected {
						return true
					}
					if !st.Connected || time.Since(st.SilentSince) < resync/4 || st.SilentSince.Before(frozen.Add(-resync)) || st.Unsent != unsent {
						t.Errorf("%v after the loss the status is %+v", time.Since(frozen), st)
					}
					return true
				})
				c.awaitLoss()
				if took := time.Since(frozen); took < resync {
					t.Errorf("the connection has ended after %v, before the time limit", took)
				}
				st, problems := c.source.SyncStatus(), c.source.Problems()
				if len(problems) == 0 || !strings.Contains(st.LastError, "has stopped answering") || st.Unsent != unsent || !st.SilentSince.IsZero() || problems[len(problems)-1].Since.Before(frozen) {
					t.Errorf("after the time limit the status is %+v, with %v", st, problems)
				}
				f.thaw()
				c.await("the end of all problems", func() bool {
					st := c.source.SyncStatus()
					return st.Connected && st.Unsent == 0 && st.LastError == "" && st.SilentSince.IsZero() && len(c.source.Problems()) == 0
				})
			}
			d := mustOpen(t, s, direct)
			d.awaitText("Team/Note.md", "note\nwritten\n")
		})
	}
}
