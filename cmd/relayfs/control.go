package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/mcpserver"
)

// Paths that an owner answers on its socket.
const (
	statusPath      = "/status"
	suggestionsPath = "/suggestions" // query: under
	mcpPath         = "/mcp"         // a stream; query: author, read-only
)

// control is the owner's side of its socket, and of its HTTP port if it has one.
type control struct {
	ws   *bridge.Workspace
	mcp  *mcpserver.Server
	http *httpServer // nil if there is none
}

// serve answers until ctx ends.
func (c *control) serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, r *http.Request) {
		answer(w, func() (any, error) { return c.ws.Status(r.Context()) })
	})
	mux.HandleFunc("GET "+suggestionsPath, func(w http.ResponseWriter, r *http.Request) {
		answer(w, func() (any, error) { return listSuggestions(r.Context(), c.ws, r.FormValue("under")) })
	})
	mux.HandleFunc("GET "+mcpPath, func(w http.ResponseWriter, r *http.Request) { c.stream(ctx, w, r) })
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { srv.Close() })
	defer stopped()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// stream serves one attached MCP client.
func (c *control) stream(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	srv := c.mcp
	if author := r.FormValue("author"); author != "" {
		srv = srv.As(author)
	}
	if r.FormValue("read-only") != "" {
		srv = srv.Reading()
	}
	s, err := owner.AcceptStream(w, r)
	if err != nil {
		return
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { s.Close() })
	if err := srv.ServeStream(ctx, s, s, "attached"); err != nil && ctx.Err() == nil {
		c.ws.Options().Logger.Debug("attached client ended", bridge.LogErr, err)
	}
}

func answer(w http.ResponseWriter, get func() (any, error)) {
	v, err := get()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
