// Package ports serves a workspace on TCP ports: MCP over HTTP, and Yjs clients. Both want
// a token, and who has shown none keeps nobody out.
//
// Locks: guestListener.mu alone, held for moments.
package ports

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/mcpserver"
)

const (
	mcpPath = "/mcp"
	// tokenName is the file in the state folder that holds the bearer token.
	tokenName = "http-token"
	// endPatience is how long requests under way may take at the end.
	endPatience = 5 * time.Second
)

// HTTP says whether and how MCP is served over HTTP.
type HTTP struct{ Addr, TokenFile string }

// Check refuses an address that others can reach unless a token was thought of.
func (f *HTTP) Check() error {
	if f.Addr == "" {
		if f.TokenFile != "" {
			return clierr.Usagef("--token-file needs --http")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return clierr.Usagef("--http %q is not HOST:PORT", f.Addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && f.TokenFile == "" {
		return clierr.Usagef("--http %s can be reached from other machines: name the file with its token with --token-file", f.Addr)
	}
	return nil
}

// HTTPServer is where MCP is served over HTTP.
type HTTPServer struct {
	listener  net.Listener
	token     string
	TokenFile string
}

// Listen opens the port; nil if no HTTP is asked for.
func (f *HTTP) Listen(base string) (*HTTPServer, error) {
	if f.Addr == "" {
		return nil, nil
	}
	h := &HTTPServer{TokenFile: f.TokenFile}
	if h.TokenFile == "" {
		h.TokenFile = filepath.Join(base, tokenName)
	}
	var err error
	if h.TokenFile, err = filepath.Abs(h.TokenFile); err != nil {
		return nil, err
	}
	if h.token, err = secret.EnsureToken(h.TokenFile); err != nil {
		return nil, err
	}
	if h.listener, err = net.Listen("tcp", f.Addr); err != nil {
		return nil, clierr.WithHint(fmt.Errorf("--http: %w", err), "choose another port; port 0 takes any that is free")
	}
	return h, nil
}

// URL is where clients connect.
func (h *HTTPServer) URL() string { return "http://" + h.listener.Addr().String() + mcpPath }

// Announce says where MCP is served, and never the token.
func (h *HTTPServer) Announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.URL(), h.TokenFile)
}

// Serve answers until ctx ends, and then finishes what is under way.
func (h *HTTPServer) Serve(ctx context.Context, mcp *mcpserver.Server, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.Handle(mcpPath, mcpserver.RequireToken(h.token, welcoming(mcp.HTTPHandler())))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnContext: withConn}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(newGuestListener(h.listener, maxConnections())) }()
	select {
	case err := <-ended:
		return fmt.Errorf("MCP over HTTP: %w", err)
	case <-ctx.Done():
	}
	mcp.Close() // ends the streams that clients keep open
	patience, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		log.Warn("requests over HTTP were cut off", model.LogErr, err)
		srv.Close()
	}
	return nil
}
