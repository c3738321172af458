// Package ports serves a workspace on TCP ports: MCP over HTTP, and Yjs clients. Both require a token;
// clients without one keep nobody out.
//
// Locks: guestListener.mu alone, held for moments.
package ports

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/system"
	"github.com/relayfs/relayfs/mcpserver"
)

const (
	mcpPath = "/mcp"
	// tokenName is the file in the state folder that holds the bearer token.
	tokenName = "http-token"
)

// HTTP says whether and how MCP is served over HTTP.
type HTTP struct{ Addr, TokenFile string }

// Check refuses an address that other machines can reach, unless a token file is given.
func (f *HTTP) Check() error {
	if f.Addr == "" {
		if f.TokenFile != "" {
			return clierr.Usagef("--token-file needs --http")
		}
		return nil
	}
	loopback, err := listen.Loopback("--http", f.Addr)
	if err == nil && !loopback && f.TokenFile == "" {
		err = clierr.Usagef("--http %s can be reached from other machines: name the file with its token with --token-file", f.Addr)
	}
	return err
}

// HTTPServer serves MCP over HTTP.
type HTTPServer struct {
	listener  net.Listener
	token     string
	TokenFile string
}

// Listen opens the port. It returns nil if there is none to open.
func (f *HTTP) Listen(base string) (*HTTPServer, error) {
	if f.Addr == "" {
		return nil, nil
	}
	h := &HTTPServer{TokenFile: cmp.Or(f.TokenFile, filepath.Join(base, tokenName))}
	var err error
	if h.TokenFile, err = filepath.Abs(h.TokenFile); err != nil {
		return nil, err
	}
	if h.token, err = secret.EnsureToken(h.TokenFile); err != nil {
		return nil, err
	}
	h.listener, err = listen.Open("--http", f.Addr)
	return h, err
}

// URL is where clients connect.
func (h *HTTPServer) URL() string { return "http://" + h.listener.Addr().String() + mcpPath }

// Announce prints the address, and never the token.
func (h *HTTPServer) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.URL(), h.TokenFile)
}

// Serve answers until ctx ends, and then finishes the requests under way.
func (h *HTTPServer) Serve(ctx context.Context, mcp *mcpserver.Server, log *slog.Logger) error {
	guarded := mcp.HTTPHandler()
	mux := http.NewServeMux()
	mux.Handle(mcpPath, mcpserver.RequireToken(h.token, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		welcome(r)
		guarded.ServeHTTP(w, r)
	})))
	srv := listen.NewServer(mux)
	srv.RegisterOnShutdown(mcp.Close) // ends the streams that clients keep open
	finished, err := serveGuests(ctx, h.listener, srv)
	if err != nil {
		return fmt.Errorf("MCP over HTTP: %w", err)
	}
	if !finished {
		log.Warn("requests over HTTP were cut off", model.LogErr, context.DeadlineExceeded)
	}
	return nil
}

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

type guests struct{ list.List }

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
func maxConnections() int { return int(min(8192, system.MaxFiles()/3)) }
