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
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

const handoverPath = "/handover" // POST a handoverRequest

// Control serves a session's workspace to other processes, on the owner's socket and on ports.
type Control struct {
	*Session
	Semantic  *semantic.Index // index that Serve runs; nil for none
	options   mcpserver.Options
	announced owner.Info // set by Serve
	MCP       *mcpserver.Server
	HTTP      *ports.HTTPServer                    // nil if no port is configured
	Metrics   *Metrics                             // nil if no port is configured
	Refusals  api.Refusals                         // refusals of the mount; empty without a mount
	clients   atomic.Int64                         // number of MCP clients on stdio, in all processes
	streams   sync.WaitGroup                       // requests of these clients, one for each client
	sessionOf atomic.Pointer[func(pid int) string] // returns the mount session of a process; nil without a mount

	mayHandOver   func(handoverRequest) error // returns an error if the owner does not hand over; may be nil
	beginHandover func()                      // makes Serve end its work
}

// NewControl returns a Control. Close its MCP when done.
func NewControl(s *Session, o mcpserver.Options) *Control {
	s.dropEmptyState = false // serving stores other data, such as the semantic index
	return &Control{Session: s, options: o, MCP: mcpserver.New(s.Workspace, o)}
}

// Info describes this process. Call it only from the work function of Serve.
func (c *Control) Info() owner.Info { return c.announced }

func (c *Control) Announce(w io.Writer) {
	if c.HTTP != nil {
		c.HTTP.Announce(w)
	}
	if c.Metrics != nil {
		c.Metrics.Announce(w)
	}
}

// serve serves on the socket until ctx ends, and then finishes the requests in progress.
func (c *Control) serve(ctx context.Context, l net.Listener) error {
	handlers := &perFolderHandlers{c: c, handlers: make(map[string]http.Handler)}
	defer handlers.close()
	srv := &http.Server{
		Handler: handlers, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, peerPIDKey{}, owner.PeerPID(conn))
		},
	}
	_, err := ports.Serve(ctx, l, srv)
	c.streams.Wait()
	return err
}

type peerPIDKey struct{}

func (c *Control) NameSessions(of func(pid int) string) { c.sessionOf.Store(&of) }

func (c *Control) session(r *http.Request) (any, error) {
	pid, _ := r.Context().Value(peerPIDKey{}).(int)
	if name := c.sessionOf.Load(); pid != 0 && name != nil {
		return (*name)(pid), nil
	}
	return "", nil
}

func (c *Control) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.clients.Add(1)
		defer c.clients.Add(-1)
		c.streams.Add(1)
		defer c.streams.Done()
		h.ServeHTTP(w, r)
	})
}

// An MCP process on stdio may own the vaults. When a mount or a server on a port starts, the new process asks the MCP
// process for the vaults. If the MCP process agrees (mayHandOver), it finishes its requests, releases the vaults and
// becomes a client of the new owner.

// handoverTimeout is the maximum time for which a process waits until another process has handed over.
const handoverTimeout = 30 * time.Second

type handoverRequest struct {
	Sources []string `json:"sources"` // the sources that the new owner will serve
}

func (c *Control) handOver(_ context.Context, req handoverRequest) (struct{}, error) {
	err := errors.New("it serves other clients, too")
	if c.mayHandOver != nil {
		err = c.mayHandOver(req)
	}
	if err == nil {
		err = c.owner.HandOver()
	}
	if err == nil {
		// After this, the next owner serves the client. The socket closes after the response to this request.
		c.beginHandover()
	}
	return struct{}{}, err
}

// OpenOrTakeOver does the same as Open, for a process that serves other processes. If the owner is only an MCP process
// on stdio, OpenOrTakeOver asks that process to hand over.
func OpenOrTakeOver(ctx context.Context, sources []source.Source, o Options) (*Session, error) {
	for start := time.Now(); ; {
		s, err := Open(ctx, sources, o)
		owned, ok := errors.AsType[*owner.AlreadyServedError](err)
		if !ok || owned.Owner == nil || time.Since(start) > handoverTimeout {
			return s, err
		}
		if info := *owned.Owner; info.HandoverStarted.IsZero() {
			if info.Command != MCPCommand || info.HTTP != nil || !owner.IsReachable(info) {
				return nil, err
			}
			if refused := askForVaults(ctx, info, sources); refused != nil {
				return nil, cli.WithHint(fmt.Errorf("%w, and that process does not hand over the vault: %w", err, refused), "end that process first")
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

func askForVaults(ctx context.Context, info owner.Info, sources []source.Source) error {
	ctx, cancel := context.WithTimeout(ctx, handoverTimeout)
	defer cancel()
	var req handoverRequest
	for _, src := range sources {
		req.Sources = append(req.Sources, src.String())
	}
	return owner.NewClient(info).Post(ctx, handoverPath, req, new(struct{}))
}

const MCPCommand = "mcp"

// perFolderHandlers has a handler for each set of sources that clients name (owner.SourceParam), both for users and for
// agents. A handler uses a workspace of these roots only, so that no operation of the client can reach another root.
type perFolderHandlers struct {
	c *Control

	mu       sync.Mutex // guards the fields below
	handlers map[string]http.Handler
	closers  []func()
}

func (h *perFolderHandlers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	folders, err := h.c.folders(r.URL.Query()[owner.SourceParam])
	if err != nil {
		w.Header().Set("Hint", hintSources)
		http.Error(w, err.Error(), http.StatusMisdirectedRequest)
		return
	}
	h.handlerOf(folders, r.URL.Query().Has(owner.AgentParam)).ServeHTTP(w, r)
}

func (h *perFolderHandlers) handlerOf(folders []string, agent bool) http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := fmt.Sprint(agent, strings.Join(folders, "/"))
	if h.handlers[key] == nil {
		h.handlers[key] = h.open(folders, agent)
	}
	return h.handlers[key]
}

func (h *perFolderHandlers) open(folders []string, agent bool) http.Handler {
	c, ws, srv := h.c, h.c.Workspace, h.c.MCP
	if len(folders) < len(c.sources) {
		ws = ws.Restrict(folders...)
		srv = mcpserver.New(ws, c.options)
		h.closers = append(h.closers, srv.Close)
	}
	if agent {
		ws = ws.ForAgents()
	}
	mux := http.NewServeMux()
	mux.Handle(ports.MCPPath, c.counted(srv.LocalHandler()))
	api.HandleGet(mux, owner.InfoPath, func(*http.Request) (any, error) { return c.announced, nil })
	api.HandleGet(mux, api.SessionPath, c.session)
	api.HandlePost(mux, handoverPath, c.handOver)
	b := c.backend(ws, srv, folders)
	b.Refusals = func(p model.Path) []model.Refusal {
		// A refusal about a top-level name that belongs to no root concerns every client.
		return slices.DeleteFunc(c.Refusals.Of(p), func(r model.Refusal) bool {
			root, _ := r.Path.Split()
			return slices.Contains(c.names(), root) && !slices.Contains(folders, root)
		})
	}
	mux.Handle("/", api.NewHandler(b))
	return mux
}

func (h *perFolderHandlers) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, fn := range h.closers {
		fn()
	}
}

// folders returns the names of the sources at the given places. If places is empty, it returns the names of all
// sources.
func (s *Session) folders(places []string) (names []string, err error) {
	for _, p := range places {
		i := slices.IndexFunc(s.sources, func(src source.Source) bool { return src.Place() == p })
		if i < 0 {
			return nil, fmt.Errorf("%s is not served here; this process serves %s", p, strings.Join(source.Names(s.sources), ", "))
		}
		names = append(names, s.sources[i].Name)
	}
	if len(places) == 0 {
		names = s.names()
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
