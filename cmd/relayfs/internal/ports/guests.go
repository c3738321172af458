package ports

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// maxGuests is how many connections may be open at a time that have not shown a token
// yet, or fewer if there may be few in all: see guestShare.
const maxGuests = 256

// guestShare is the part of max connections that guests have.
func guestShare(max int) int { return min(maxGuests, 1+max/8) }

// guestListener bounds the connections that are open at a time. Those that have not
// shown a token yet, the guests, have a small share of them: when it is full, the
// oldest guest gives way to the next one. So who is silent keeps nobody out.
type guestListener struct {
	net.Listener
	places chan struct{} // has room for the connections that may be open
	share  int
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex // protects the following
	guests list.List  // of *guestConn, the oldest first
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
		oldest = l.oldest()
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	return c, nil
}

// place takes a place, that of the oldest guest if there is no other.
func (l *guestListener) place() bool {
	select {
	case l.places <- struct{}{}:
		return true
	default:
	}
	l.mu.Lock()
	oldest := l.oldest()
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

// oldest is the guest that has been one for longest, nil if there is none. mu is held.
func (l *guestListener) oldest() *guestConn {
	if l.guests.Len() == 0 {
		return nil
	}
	return l.guests.Front().Value.(*guestConn)
}

func (l *guestListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// guestConn is a connection that is a guest until it is welcome.
type guestConn struct {
	net.Conn
	l     *guestListener
	ended sync.Once

	guest *list.Element // nil once it is none; protected by l.mu
}

// welcome makes a connection that has shown a token one that stays.
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

type connKey struct{}

// withConn lets handlers of a server find the connection of a request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// welcome makes the connection of a request that has shown a token one that stays.
func welcome(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*guestConn); ok {
		c.welcome()
	}
}

// welcoming is a handler of requests that have shown a token.
func welcoming(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		welcome(r)
		next.ServeHTTP(w, r)
	})
}
