package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/metrics"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// Paths that an owner answers on its socket beside the API. Each takes owner.SourceParam too.
const (
	mcpPath      = "/mcp"      // mcpserver.Server.LocalHandler
	handoverPath = "/handover" // POST a HandoverRequest
)

// Control serves a session's workspace to other processes, on the owner's socket and on ports.
type Control struct {
	*Session
	Semantic  *semantic.Index // nil if no tool searches it
	options   mcpserver.Options
	announced owner.Info // set by Serve
	MCP       *mcpserver.Server
	HTTP      *ports.HTTPServer                    // nil if there is none
	Metrics   *metrics.Server                      // nil if there is none
	Refusals  api.Refusals                         // of the mount, if there is one
	clients   atomic.Int64                         // of MCP on stdio, here and in other processes
	calls     sync.WaitGroup                       // of these that are under way
	sessionOf atomic.Pointer[func(pid int) string] // see NameSessions

	// See LetHandOver; nil if this owner does not hand over.
	mayHandOver   func(HandoverRequest) error
	beginHandover func()
}

// NewControl returns a Control. Close its MCP at the end.
func NewControl(s *Session, o mcpserver.Options) *Control {
	s.passing = false // what goes with serving is kept: ports, an index
	return &Control{Session: s, options: o, MCP: mcpserver.New(s.Workspace, o)}
}

// Info describes this process to others. It is known once Serve runs its work.
func (c *Control) Info() owner.Info { return c.announced }

// LetHandOver lets the owner hand over unless may returns an error. begin ends its work.
func (c *Control) LetHandOver(may func(HandoverRequest) error, begin func()) {
	c.mayHandOver, c.beginHandover = may, begin
}

// Announce prints which ports are open.
func (c *Control) Announce(w io.Writer) {
	if c.HTTP != nil {
		c.HTTP.Announce(w)
	}
	if c.Metrics != nil {
		c.Metrics.Announce(w)
	}
}

// serve answers on the socket until ctx ends, and then finishes the requests under way.
func (c *Control) serve(ctx context.Context, l net.Listener) error {
	clients := &reaches{c: c, of: make(map[string]http.Handler)}
	defer clients.close()
	srv := &http.Server{
		Handler: clients, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, owner.PeerPID(conn))
		},
	}
	_, err := ports.Serve(ctx, l, srv)
	c.calls.Wait()
	return err
}

// peerKey is the key of the process that makes a request, in the context of that.
type peerKey struct{}

// NameSessions sets what names the session of a process on the mount.
func (c *Control) NameSessions(of func(pid int) string) { c.sessionOf.Store(&of) }

// session names the session that the client is in on the mount, "" if it is in none.
func (c *Control) session(r *http.Request) (any, error) {
	pid, _ := r.Context().Value(peerKey{}).(int)
	if name := c.sessionOf.Load(); pid != 0 && name != nil {
		return (*name)(pid), nil
	}
	return "", nil
}

// counted is h for clients of MCP on stdio.
func (c *Control) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // the stream of a client
			c.clients.Add(1)
			defer c.clients.Add(-1)
		} else {
			c.calls.Add(1)
			defer c.calls.Done()
		}
		h.ServeHTTP(w, r)
	})
}

// An MCP process on stdio serves the vaults for its own client, and for clients that attach to it. A
// process that can do more, a mount or a server on a port, asks for the vaults: the MCP process answers
// the requests so far, releases the vaults and becomes a client of the new owner.

// handoverPatience is how long a process that hands over may take to finish the calls under way.
const handoverPatience = 30 * time.Second

// HandoverRequest is sent by a process that asks for the vaults.
type HandoverRequest struct {
	Sources []string `json:"sources"` // NAME=DIR of each vault that it will serve
}

// handOver hands the vaults over to the process that asks.
func (c *Control) handOver(_ context.Context, req HandoverRequest) (struct{}, error) {
	err := errors.New("it serves others too")
	if c.mayHandOver != nil {
		err = c.mayHandOver(req)
	}
	if err == nil {
		err = c.owner.HandOver()
	}
	if err == nil {
		// From here on the next owner answers the client. The socket closes after the answer to this request.
		c.beginHandover()
	}
	return struct{}{}, err
}

// Take is Open for a process that serves others. It asks an owner that serves only its own client to hand
// over.
func Take(ctx context.Context, sources []source.Source, o Options) (*Session, error) {
	for start := time.Now(); ; {
		s, err := Open(ctx, sources, o)
		owned, ok := errors.AsType[*owner.AlreadyServedError](err)
		if !ok || owned.Owner == nil || time.Since(start) > handoverPatience {
			return s, err
		}
		if info := *owned.Owner; info.HandoverStarted.IsZero() {
			if info.Command != MCPCommand || info.HTTP != nil || !owner.IsReachable(info) {
				return nil, err
			}
			if refused := askForVaults(ctx, info, sources); refused != nil {
				return nil, cli.WithHint(fmt.Errorf("%w, which does not hand it over: %w", err, refused), "end that process first")
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(Poll):
		}
	}
}

func askForVaults(ctx context.Context, info owner.Info, sources []source.Source) error {
	ctx, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	var req HandoverRequest
	for _, src := range sources {
		req.Sources = append(req.Sources, src.String())
	}
	return owner.NewClient(info).Post(ctx, handoverPath, req, new(struct{}))
}

// MCPCommand is the command of an owner that serves only MCP.
const MCPCommand = "mcp"

// A client of the owner's socket says which sources it was given (owner.SourceParam). It is answered from a
// workspace of these Folders only, so no operation can reach another one.

// reaches answers clients, each from the Folders that it may reach.
type reaches struct {
	c *Control

	mu      sync.Mutex // protects the following
	of      map[string]http.Handler
	closers []func()
}

func (x *reaches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	folders, err := x.c.folders(r.URL.Query()[owner.SourceParam])
	if err != nil {
		w.Header().Set("Hint", hintSources)
		http.Error(w, err.Error(), http.StatusMisdirectedRequest)
		return
	}
	x.within(folders).ServeHTTP(w, r)
}

func (x *reaches) within(folders []string) http.Handler {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := strings.Join(folders, "/")
	if x.of[key] == nil {
		x.of[key] = x.open(folders)
	}
	return x.of[key]
}

func (x *reaches) open(folders []string) http.Handler {
	ws, srv := x.c.Workspace, x.c.MCP
	if len(folders) < len(x.c.sources) {
		ws = ws.Restrict(folders...)
		srv = mcpserver.New(ws, x.c.options)
		x.closers = append(x.closers, srv.Close)
	}
	mux := http.NewServeMux()
	mux.Handle(mcpPath, x.c.counted(srv.LocalHandler()))
	api.HandleGet(mux, owner.InfoPath, func(*http.Request) (any, error) { return x.c.announced, nil })
	api.HandleGet(mux, api.SessionPath, x.c.session)
	api.HandlePost(mux, handoverPath, x.c.handOver)
	mux.Handle("/", api.NewHandler(api.Served{Workspace: ws, MCP: srv, Kept: x.c.keptOf(folders), Guarded: func() ([]model.Path, string) {
		return x.c.guarded(func(s source.Source) bool { return slices.Contains(folders, s.Name) })
	}, Refused: func(p model.Path) []model.Refusal {
		return slices.DeleteFunc(x.c.Refusals.Of(p), func(r model.Refusal) bool { return !x.mayHear(folders, r.Path) })
	}}))
	return mux
}

// mayHear says whether a client of the Folders named is told of a path: one of theirs, or a name beside all Folders.
func (x *reaches) mayHear(folders []string, p model.Path) bool {
	folder, _ := p.Split()
	served := slices.ContainsFunc(x.c.sources, func(s source.Source) bool { return s.Name == folder })
	return !served || slices.Contains(folders, folder)
}

func (x *reaches) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, fn := range x.closers {
		fn()
	}
}

// folders returns the names of the Folders at places, or of all if there are none.
func (s *Session) folders(places []string) (names []string, err error) {
	for _, p := range places {
		i := slices.IndexFunc(s.sources, func(src source.Source) bool { return src.Place() == p })
		if i < 0 {
			return nil, fmt.Errorf("%s is not served here; what is: %s", p, strings.Join(source.Names(s.sources), ", "))
		}
		names = append(names, s.sources[i].Name)
	}
	if len(places) == 0 {
		for _, src := range s.sources {
			names = append(names, src.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
