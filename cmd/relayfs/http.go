package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/mcpserver"
)

const (
	httpPath = "/mcp"
	// tokenName is the file in the state folder that holds the bearer token.
	tokenName = "http-token"
	// httpPatience is how long requests under way may take at the end.
	httpPatience = 5 * time.Second
)

// httpFlags say whether and how MCP is served over HTTP.
type httpFlags struct{ addr, tokenFile string }

func (f *httpFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.addr, "http", "", "serve MCP over Streamable HTTP on this address, for example 127.0.0.1:7777")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the bearer token of --http (default http-token in the state folder); made if it is missing")
}

// check refuses an address that others can reach unless a token was thought of.
func (f *httpFlags) check() error {
	if f.addr == "" {
		if f.tokenFile != "" {
			return clierr.Usagef("--token-file needs --http")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return clierr.Usagef("--http %q is not HOST:PORT", f.addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && f.tokenFile == "" {
		return clierr.Usagef("--http %s can be reached from other machines: name the file with its token with --token-file", f.addr)
	}
	return nil
}

// httpServer is where MCP is served over HTTP.
type httpServer struct {
	listener  net.Listener
	token     string
	tokenFile string
}

// listen opens the port; nil if no HTTP is asked for.
func (f *httpFlags) listen(base string) (*httpServer, error) {
	if f.addr == "" {
		return nil, nil
	}
	h := &httpServer{tokenFile: f.tokenFile}
	if h.tokenFile == "" {
		h.tokenFile = filepath.Join(base, tokenName)
	}
	var err error
	if h.tokenFile, err = filepath.Abs(h.tokenFile); err != nil {
		return nil, err
	}
	if h.token, err = secret.EnsureToken(h.tokenFile); err != nil {
		return nil, err
	}
	if h.listener, err = net.Listen("tcp", f.addr); err != nil {
		return nil, clierr.WithHint(fmt.Errorf("--http: %w", err), "choose another port; port 0 takes any that is free")
	}
	return h, nil
}

// url is where clients connect.
func (h *httpServer) url() string { return "http://" + h.listener.Addr().String() + httpPath }

// announce says where MCP is served, and never the token.
func (h *httpServer) announce(w io.Writer) {
	fmt.Fprintf(w, "serving MCP at %s, token in %s\n", h.url(), h.tokenFile)
}

// serve answers until ctx ends, and then finishes what is under way.
func (h *httpServer) serve(ctx context.Context, mcp *mcpserver.Server, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.Handle(httpPath, mcpserver.RequireToken(h.token, welcoming(mcp.HTTPHandler())))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnContext: withConn}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(newGuestListener(h.listener, maxConnections())) }()
	select {
	case err := <-ended:
		return fmt.Errorf("MCP over HTTP: %w", err)
	case <-ctx.Done():
	}
	mcp.Close() // ends the streams that clients keep open
	patience, cancel := context.WithTimeout(context.Background(), httpPatience)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		log.Warn("requests over HTTP were cut off", bridge.LogErr, err)
		srv.Close()
	}
	return nil
}
