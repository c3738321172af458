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
	"path/filepath"
	"sync/atomic"
	"time"

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

// CheckFile returns an error if the token file exists and cannot be used. base is the state folder.
func (f *HTTP) CheckFile(base string) error {
	if f.Addr == "" {
		return nil
	}
	file, err := f.file(base)
	if err != nil {
		return err
	}
	if _, err = secret.ReadToken(file); errors.Is(err, fs.ErrNotExist) {
		return nil // Listen creates it
	}
	return err
}

type HTTPServer struct {
	listener  net.Listener
	token     string
	TokenFile string
	max       int64
	open      atomic.Int64 // number of open connections
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
	h := &HTTPServer{TokenFile: file, max: maxConnections()}
	if h.token, err = secret.EnsureToken(h.TokenFile); err != nil {
		return nil, err
	}
	h.listener, err = Open("--http", f.Addr)
	return h, err
}

func (h *HTTPServer) Connections() int { return int(h.open.Load()) }

func (h *HTTPServer) URL() string { return "http://" + h.listener.Addr().String() + MCPPath }

// Announce prints the address and the path of the token file, but never the token.
func (h *HTTPServer) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.URL(), h.TokenFile)
}

// Serve serves MCP until ctx ends, and then waits for the requests in progress, at most for shutdownTimeout. ready must
// return an error if changes cannot be stored.
func (h *HTTPServer) Serve(ctx context.Context, mcp *mcpserver.Server, ready func() error, log *slog.Logger) error {
	mux := http.NewServeMux()
	Health(mux, ready)
	mux.Handle(MCPPath, Guard(h.token, "Unauthorized: send the bearer token that 'relayfs status --show-token' prints", mcp.HTTPHandler()))
	srv := NewServer(mux)
	srv.ReadHeaderTimeout = silentTimeout
	srv.RegisterOnShutdown(mcp.Close) // ends the streams that clients keep open
	srv.ConnState = h.count
	finished, err := Serve(ctx, h.listener, srv)
	if err != nil {
		return fmt.Errorf("MCP over HTTP: %w", err)
	}
	if !finished {
		log.Warn("stopped serving before all HTTP requests were finished", model.LogErr, context.DeadlineExceeded)
	}
	return nil
}

// silentTimeout is the time after which a new connection without a request is closed.
const silentTimeout = 10 * time.Second

// count counts the open connections. It closes a new connection if max are open.
func (h *HTTPServer) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if h.open.Add(1) > h.max {
			c.Close()
		}
	case http.StateClosed:
		h.open.Add(-1)
	}
}

// maxConnections returns the maximum number of open connections. The remaining file descriptors are for files of the
// vault.
func maxConnections() int64 { return min(8192, int64(disk.MaxFiles()/3)) }
