package ports

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
)

// maxGuests bounds the connections without a token, see guestShare.
const maxGuests = 256

// guestShare returns how many of max connections may be guests.
func guestShare(max int) int { return min(maxGuests, 1+max/8) }

// guestListener bounds the open connections. Guests, which have not shown a token yet, have a small share of
// them. When that is full, the oldest guest is closed for the next one, so silent clients keep nobody out.
type guestListener struct {
	net.Listener
	places chan struct{} // has room for the open connections
	share  int
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex // protects the following
	guests guests
}

// guests are the guest connections, the oldest first.
type guests struct{ list.List }

// oldest returns the oldest guest, nil if there is none.
func (g *guests) oldest() *guestConn {
	if g.Len() == 0 {
		return nil
	}
	return g.Front().Value.(*guestConn)
}

func newGuestListener(l net.Listener, max int) *guestListener {
	return &guestListener{Listener: l, places: make(chan struct{}, max), share: guestShare(max), closed: make(chan struct{})}
}

// Accept waits for the next connection, and for room for it.
func (l *guestListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.place() {
		conn.Close()
		return nil, net.ErrClosed
	}
	c := &guestConn{Conn: conn, l: l}
	l.mu.Lock()
	c.guest = l.guests.PushBack(c)
	var oldest *guestConn
	if l.guests.Len() > l.share {
		oldest = l.guests.oldest()
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	return c, nil
}

// place takes a place, or that of the oldest guest if all are taken.
func (l *guestListener) place() bool {
	select {
	case l.places <- struct{}{}:
		return true
	default:
	}
	l.mu.Lock()
	oldest := l.guests.oldest()
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	select {
	case l.places <- struct{}{}:
		return true
	case <-l.closed:
		return false
	}
}

func (l *guestListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// guestConn is a connection that is a guest until welcome.
type guestConn struct {
	net.Conn
	l     *guestListener
	ended sync.Once

	guest *list.Element // nil after welcome; protected by l.mu
}

// welcome ends the guest status of a connection that has shown a token.
func (c *guestConn) welcome() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.guest != nil {
		c.l.guests.Remove(c.guest)
		c.guest = nil
	}
}

func (c *guestConn) Close() error {
	c.ended.Do(func() {
		c.welcome()
		<-c.l.places
	})
	return c.Conn.Close()
}

type connKey struct{} // of the connection in the context of a request

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// welcome ends the guest status of the connection of a request that has shown a token.
func welcome(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*guestConn); ok {
		c.welcome()
	}
}

// serveGuests serves on l until ctx ends, and bounds the connections. finished is that of listen.Serve.
func serveGuests(ctx context.Context, l net.Listener, srv *http.Server) (finished bool, err error) {
	srv.ConnContext = withConn
	return listen.Serve(ctx, newGuestListener(l, maxConnections()), srv)
}

// maxConnections bounds the open connections to --listen, and to --http. More wait until one ends, so that
// files of the vault can always be opened.
func maxConnections() int { return int(min(8192, maxFiles()/3)) }
