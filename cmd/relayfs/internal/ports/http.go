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

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/mcpserver"
)

const MCPPath = "/mcp"

// HTTP has the settings of MCP over HTTP. If Addr is "", no port is opened.
type HTTP struct{ Addr, TokenFile string }

// Check returns an error if other machines can reach the address and there is no token file.
func (f *HTTP) Check() error {
	if f.Addr == "" {
		return nil
	}
	loopback, err := Loopback("--http", f.Addr)
	if err == nil && !loopback && f.TokenFile == "" {
		err = cli.Usagef("--http %s can be reached from other machines: name the file with its token, as token-file in the configuration or as RELAYFS_TOKEN_FILE", f.Addr)
	}
	return err
}

func (f *HTTP) file(base string) (string, error) {
	return filepath.Abs(cmp.Or(f.TokenFile, filepath.Join(base, "http-token")))
}

// CheckFile returns an error if the token file can be neither read nor created. base is the state folder.
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

type HTTPServer struct {
	listener  *limitedListener
	token     string
	TokenFile string
}

// Listen opens the port. It returns nil if no port is configured.
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

func (h *HTTPServer) Connections() int { return len(h.listener.slots) }

func (h *HTTPServer) URL() string { return "http://" + h.listener.Addr().String() + MCPPath }

// Announce prints the address and the path of the token file, but never the token.
func (h *HTTPServer) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.URL(), h.TokenFile)
}

// Serve serves MCP until ctx ends, and then waits for the requests in progress, at most for shutdownTimeout. ready must
// return an error if changes cannot be stored.
func (h *HTTPServer) Serve(ctx context.Context, mcp *mcpserver.Server, ready func() error, log *slog.Logger) error {
	guarded := mcp.HTTPHandler()
	mux := http.NewServeMux()
	Health(mux, ready)
	mux.Handle(MCPPath, Guard(h.token, "Unauthorized: send the bearer token that 'relayfs status --show-token' prints", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*pendingConn); ok {
			c.authenticated()
		}
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
		log.Warn("stopped serving before all HTTP requests were finished", model.LogErr, context.DeadlineExceeded)
	}
	return nil
}

// maxPending is the maximum number of connections that have not sent a valid token yet.
const maxPending = 256

// limitedListener limits the number of open connections, and the number of open connections that have not sent a valid
// token yet (pending). At either limit, it closes the oldest pending connection in favour of the new connection. So
// clients without a token cannot lock out clients with a token.
type limitedListener struct {
	net.Listener
	slots        chan struct{} // has one element per open connection
	pendingLimit int
	closed       chan struct{}
	once         sync.Once

	mu      sync.Mutex     // guards the fields below
	pending []*pendingConn // connections that have not sent a valid token, oldest first
}

func newLimitedListener(l net.Listener, max int) *limitedListener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, max), pendingLimit: min(maxPending, 1+max/8), closed: make(chan struct{})}
}

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

// pendingConn is a connection of limitedListener. Until the client has sent a valid token (authenticated), the listener
// may close the connection.
type pendingConn struct {
	net.Conn
	l     *limitedListener
	ended sync.Once
}

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

type connKey struct{} // key of the connection in a request's context

// maxConnections returns the maximum number of open connections. The remaining file descriptors are for files of the
// vault.
func maxConnections() int { return min(8192, disk.MaxFiles()/3) }
