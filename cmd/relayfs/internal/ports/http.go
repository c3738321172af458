// Package ports opens TCP ports and serves HTTP there until a context ends (listen.go), has the guard that asks for tokens
// (guard.go), and serves MCP over HTTP (http.go). Clients without a token keep nobody out.
//
// Locks: guestListener.mu alone, held for moments.
package ports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
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
		return nil
	}
	loopback, err := Loopback("--http", f.Addr)
	if err == nil && !loopback && f.TokenFile == "" {
		err = cli.Usagef("--http %s can be reached from other machines: name the file with its token: token-file in the configuration, or RELAYFS_TOKEN_FILE", f.Addr)
	}
	return err
}

// file is that of the token.
func (f *HTTP) file(base string) (string, error) {
	return filepath.Abs(cmp.Or(f.TokenFile, filepath.Join(base, tokenName)))
}

// CheckFile says why the token cannot be had. It makes none.
func (f *HTTP) CheckFile(base string) error {
	if f.Addr == "" {
		return nil
	}
	file, err := f.file(base)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return secret.Creatable(file)
	}
	_, err = secret.ReadToken(file)
	return err
}

// Budget bounds what clients of --http send at a time.
var Budget = mcpserver.NewBudget()

// HTTPServer serves MCP over HTTP.
type HTTPServer struct {
	listener  *guestListener
	token     string
	TokenFile string
}

// Listen opens the port. It returns nil if there is none to open.
func (f *HTTP) Listen(base string) (*HTTPServer, error) {
	if f.Addr == "" {
		return nil, nil
	}
	file, err := f.file(base)
	if err != nil {
		return nil, err
	}
	h := &HTTPServer{TokenFile: file}
	if h.token, err = secret.EnsureToken(h.TokenFile); err != nil {
		return nil, err
	}
	l, err := Open("--http", f.Addr)
	if err != nil {
		return nil, err
	}
	h.listener = newGuestListener(l, maxConnections())
	return h, nil
}

// Connections is the number of open connections.
func (h *HTTPServer) Connections() int { return len(h.listener.places) }

// URL is where clients connect.
func (h *HTTPServer) URL() string { return "http://" + h.listener.Addr().String() + mcpPath }

// Announce prints the address, and never the token.
func (h *HTTPServer) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.URL(), h.TokenFile)
}

// Serve answers until ctx ends, and then finishes the requests under way. ready says why changes are not
// stored, nil if they are.
func (h *HTTPServer) Serve(ctx context.Context, mcp *mcpserver.Server, ready func() error, log *slog.Logger) error {
	guarded := mcp.HTTPHandler()
	mux := http.NewServeMux()
	Health(mux, ready)
	mux.Handle(mcpPath, Guard(h.token, "Unauthorized: a bearer token is needed", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		welcome(r)
		guarded.ServeHTTP(w, r)
	})))
	srv := NewServer(mux)
	srv.RegisterOnShutdown(mcp.Close) // ends the streams that clients keep open
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	finished, err := Serve(ctx, h.listener, srv)
	if err != nil {
		return fmt.Errorf("MCP over HTTP: %w", err)
	}
	if !finished {
		log.Warn("requests over HTTP were cut off", model.LogErr, context.DeadlineExceeded)
	}
	return nil
}

// maxGuests bounds the connections without a token.
const maxGuests = 256

// guestListener bounds the open connections. Guests, which have not shown a token yet, have a small share of
// them. When that is full, the oldest guest is closed for the next one, so silent clients keep nobody out.
type guestListener struct {
	net.Listener
	places chan struct{} // has room for the open connections
	share  int
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex   // protects the following
	guests []*guestConn // the oldest first
}

func newGuestListener(l net.Listener, max int) *guestListener {
	return &guestListener{Listener: l, places: make(chan struct{}, max), share: min(maxGuests, 1+max/8), closed: make(chan struct{})}
}

// Accept waits for the next connection, and for room for it.
func (l *guestListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if len(l.places) == cap(l.places) {
		l.closeOldest(0)
	}
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		conn.Close()
		return nil, net.ErrClosed
	}
	c := &guestConn{Conn: conn, l: l}
	l.mu.Lock()
	l.guests = append(l.guests, c)
	l.mu.Unlock()
	l.closeOldest(l.share)
	return c, nil
}

// closeOldest closes the oldest guest if there are more than max.
func (l *guestListener) closeOldest(max int) {
	l.mu.Lock()
	var oldest *guestConn
	if len(l.guests) > max {
		oldest = l.guests[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
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
}

// welcome ends the guest status of a connection that has shown a token.
func (c *guestConn) welcome() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.guests = slices.DeleteFunc(c.l.guests, func(g *guestConn) bool { return g == c })
}

func (c *guestConn) Close() error {
	c.ended.Do(func() {
		c.welcome()
		<-c.l.places
	})
	return c.Conn.Close()
}

type connKey struct{} // of the connection in the context of a request

// welcome ends the guest status of the connection of a request that has shown a token.
func welcome(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*guestConn); ok {
		c.welcome()
	}
}

// maxConnections bounds the open connections. More wait until one ends, so that
// files of the vault can always be opened.
func maxConnections() int { return int(min(8192, process.MaxFiles()/3)) }
