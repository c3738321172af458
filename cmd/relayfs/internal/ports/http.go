// Package ports serves a workspace on TCP ports: MCP over HTTP, and Yjs clients. Both require a token;
// clients without one keep nobody out.
//
// Locks: guestListener.mu alone, held for moments.
package ports

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
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
