package ownership

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/access"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// A client of the owner's socket says which sources it was given (owner.SourceParam). It is answered from a
// workspace of these Folders only, so no operation can reach another one.

// reaches answers clients, each from the Folders that it may reach.
type reaches struct {
	ctx context.Context // of the owner
	c   *Control

	mu sync.Mutex // protects the following
	of map[string]*reach
}

type reach struct {
	http.Handler
	close func()
}

func (x *reaches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	folders, err := x.c.folders(r.URL.Query()[owner.SourceParam])
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	x.within(folders).ServeHTTP(w, r)
}

func (x *reaches) within(folders []string) *reach {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := strings.Join(folders, "/")
	if x.of[key] == nil {
		x.of[key] = x.c.reach(x.ctx, folders)
	}
	return x.of[key]
}

func (x *reaches) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.of {
		r.close()
	}
}

// folders returns the names of the Folders at places, or of all if there are none.
func (c *Control) folders(places []string) (names []string, err error) {
	for _, p := range places {
		i := slices.IndexFunc(c.sources, func(s source.Source) bool { return s.Place() == p })
		if i < 0 {
			return nil, fmt.Errorf("%s is not served here; what is: %s", p, strings.Join(source.Names(c.sources), ", "))
		}
		names = append(names, c.sources[i].Name)
	}
	if len(places) == 0 {
		for _, s := range c.sources {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (c *Control) reach(ctx context.Context, folders []string) *reach {
	ws, srv, done := c.Workspace, c.MCP, func() {}
	if len(folders) < len(c.sources) {
		ws = c.Workspace.Within(folders...)
		srv = mcpserver.New(ws, c.options)
		done = srv.Close
	}
	q, cancel := queue.NewLocal(ws)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+owner.AlivePath, jsonapi.Handler(func(*http.Request) (any, error) { return struct{}{}, nil }))
	mux.HandleFunc("GET "+statusPath, jsonapi.Handler(func(r *http.Request) (any, error) { return ws.Status(r.Context()) }))
	mux.HandleFunc("GET "+mcpPath, func(w http.ResponseWriter, r *http.Request) { c.stream(ctx, srv, w, r) })
	mux.HandleFunc("POST "+handoverPath, c.answerHandover)
	queue.Handle(mux, q)
	access.Handle(mux, access.Local{Workspace: ws, MCP: srv})
	return &reach{mux, func() { cancel(); done() }}
}
