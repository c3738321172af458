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
		return secret.CheckCreatable(file)
	}
	_, err = secret.ReadToken(file)
	return err
}

// Budget bounds what clients of --http send at a time.
var Budget = mcpserver.NewBudget()

// HTTPServer serves MCP over HTTP.
type HTTPServer struct {
	listener  *limitedListener
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
	h.listener = newLimitedListener(l, maxConnections())
	return h, nil
}

// Connections is the number of open connections.
func (h *HTTPServer) Connections() int { return len(h.listener.slots) }

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
		markAuthenticated(r)
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

// maxPending bounds the connections without a token.
const maxPending = 256

// limitedListener bounds the open connections. Guests, which have not shown a token yet, have a small share of
// them. When that is full, the oldest guest is closed for the next one, so silent clients keep nobody out.
type limitedListener struct {
	net.Listener
	slots        chan struct{} // has room for the open connections
	pendingLimit int
	closed       chan struct{}
	once         sync.Once

	mu      sync.Mutex     // protects the following
	pending []*pendingConn // the oldest first
}

func newLimitedListener(l net.Listener, max int) *limitedListener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, max), pendingLimit: min(maxPending, 1+max/8), closed: make(chan struct{})}
}

// Accept waits for the next connection, and for room for it.
func (l *limitedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if len(l.slots) == cap(l.slots) {
		l.closeOldest(0)
	}
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		conn.Close()
		return nil, net.ErrClosed
	}
	c := &pendingConn{Conn: conn, l: l}
	l.mu.Lock()
	l.pending = append(l.pending, c)
	l.mu.Unlock()
	l.closeOldest(l.pendingLimit)
	return c, nil
}

// closeOldest closes the oldest guest if there are more than max.
func (l *limitedListener) closeOldest(max int) {
	l.mu.Lock()
	var oldest *pendingConn
	if len(l.pending) > max {
		oldest = l.pending[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// pendingConn is a connection that is a guest until welcome.
type pendingConn struct {
	net.Conn
	l     *limitedListener
	ended sync.Once
}

// authenticated ends the guest status of a connection that has shown a token.
func (c *pendingConn) authenticated() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.pending = slices.DeleteFunc(c.l.pending, func(g *pendingConn) bool { return g == c })
}

func (c *pendingConn) Close() error {
	c.ended.Do(func() {
		c.authenticated()
		<-c.l.slots
	})
	return c.Conn.Close()
}

type connKey struct{} // of the connection in the context of a request

// authenticated ends the guest status of the connection of a request that has shown a token.
func markAuthenticated(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*pendingConn); ok {
		c.authenticated()
	}
}

// maxConnections bounds the open connections. More wait until one ends, so that
// files of the vault can always be opened.
func maxConnections() int { return int(min(8192, process.MaxFiles()/3)) }
