package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type Approvals = change.Approvals

// ParseApprovals parses "ask", "auto" or "deny" for all kinds of change, and "KIND=..." for one kind: create, update or
// delete. If several words are for the same kind, the last one counts.
func ParseApprovals(words []string) (Approvals, error) { return change.ParseApprovals(words) }

// Options of a Server. The zero value serves the toolset claude.
type Options struct {
	// Author is the author of the changes of clients without Client.Author. If both are "", the author is the client's
	// name.
	Author   string
	Version  string
	Toolsets []string // names of toolsets; if empty, only claude; CheckToolsets reports unknown names
	ReadOnly bool     // offer only tools that change nothing
	Approve  Approvals
	// AgentNotes are names of notes at the top of each root. The instructions include the approved text of the first
	// note that has text. nil means DefaultAgentNotes.
	AgentNotes []string
	Semantic   *semantic.Index // if nil, the Server creates an index in memory
	Logger     *slog.Logger
}

type Server struct {
	o             Options
	enabled       toolset
	ws            *bridge.Workspace
	log           *slog.Logger
	mcp           *server.MCPServer
	sessions      *httpSessions // sessions over Streamable HTTP
	index         *search.Index
	semantic      *semantic.Index
	subscriptions *subscriptions

	mu      sync.Mutex // guards the fields below
	closers []func()
}

type Client struct {
	Name         string            // default name of the client
	Author       string            // author of all changes; "" means the Server's author
	ReadOnly     bool              // the client may not change anything
	SkipApproval bool              // set for a user's own command, which needs no approval
	Names        *strings.Replacer // puts the client's names in the place of the tools' in their texts; may be nil
}

func (s *Server) onClose(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, fn)
}

// Close ends all HTTP sessions, and the subscription to workspace events.
func (s *Server) Close() {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	for _, fn := range closers {
		fn()
	}
}

// New returns a Server for the part of ws that agents may reach. Close the Server to end its subscription to workspace
// events.
func New(ws *bridge.Workspace, o Options) *Server {
	ws = ws.ForAgents()
	s := &Server{ws: ws, log: o.Logger, o: o}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.enabled, _ = pick(o.Toolsets, o.ReadOnly || ws.Options().ReadOnly)
	s.sessions = &httpSessions{s: s, all: make(map[string]*Session)}
	s.index = search.NewIndex(ws)
	if s.semantic = o.Semantic; s.semantic == nil {
		s.semantic = semantic.New(ws, semantic.Options{Logger: o.Logger})
	}
	s.subscriptions = &subscriptions{s: s, uris: make(map[subscription]string)}
	hooks := new(server.Hooks)
	if s.o.AgentNotes == nil {
		s.o.AgentNotes = DefaultAgentNotes
	}
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, req *mcp.InitializeRequest, res *mcp.InitializeResult) {
		s.session(ctx).client.Session.SetClient(req.Params.ClientInfo.Name, req.Params.Capabilities.Elicitation != nil)
		res.Instructions += agentNotes(ctx, ws, s.o.AgentNotes)
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, res *mcp.DiscoverResult) {
		res.Instructions += agentNotes(ctx, ws, s.o.AgentNotes)
	})
	s.mcp = server.NewMCPServer("relayfs", o.Version,
		server.WithTitle("relayfs: shared notes"),
		server.WithInstructions(instructions(ws.Options(), s.enabled)),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(true, true),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completer{s}),
		server.WithResourceCompletionProvider(completer{s}),
		server.WithToolFilter(s.offered),
		server.WithRecovery(),
		server.WithLogger(s.log),
		server.WithHooks(hooks),
	)
	for _, t := range s.enabled.tools {
		s.mcp.AddTool(definition(t), s.handler(t))
	}
	s.addResources(hooks)
	s.addPrompts()
	s.follow()
	return s
}

// offered selects the tools for tools/list and tools/call by the permissions of the client.
func (s *Server) offered(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	offer := s.session(ctx).enabled
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return s.enabled.has(t.Name) && !offer.has(t.Name) })
}

func (c Client) Query() url.Values {
	query := url.Values{}
	if c.Author != "" {
		query.Set("author", c.Author)
	}
	if c.ReadOnly {
		query.Set("read-only", "true")
	}
	return query
}

func (s *Server) Sessions() int { return s.sessions.Len() }

type Result = result.Result

type Session struct {
	order   callOrder
	client  *tool.Client
	enabled toolset
}

func (s *Session) id() string { return s.client.Session.ID() }

func (s *Session) ReadAll(ctx context.Context, name string) error {
	p, v, err := s.client.Resolver.Note(ctx, name)
	if err == nil {
		d := document.OfNote(p, v)
		s.client.Session.RecordRead(d, textrange.Range{End: len(d.Text)})
	}
	return err
}

// Call runs a tool directly. ok is false if the session has no such tool.
func (s *Session) Call(ctx context.Context, name string, args json.RawMessage) (res result.Result, ok bool) {
	i := slices.IndexFunc(s.enabled.tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return result.Result{}, false
	}
	return s.enabled.tools[i].Call(ctx, s.client, args).Bounded(), true
}

func (s *Server) NewSession(c Client) *Session { return s.newSession(rand.Text(), c) }

func (s *Server) newSession(id string, c Client) *Session {
	offer, approve := s.enabled, s.o.Approve
	if c.ReadOnly {
		offer = offer.readOnly()
	}
	if c.SkipApproval {
		approve = change.NoApprovals
	}
	offer.phrases.Names = c.Names
	own := session.New(session.Options{ID: id, Client: c.Name, Author: cmp.Or(c.Author, s.o.Author), Workspace: s.ws, Logger: s.log})
	own.SetChangeCursor(s.ws.Last(), s.ws.LastOrder())
	return &Session{enabled: offer, client: &tool.Client{
		Workspace: s.ws, Session: own, Resolver: document.Resolver{Workspace: s.ws},
		Changes: change.Changes{Workspace: s.ws, Session: own, Gate: change.NewGate(approve, s.ws.Options().Mode == bridge.Direct), Reader: offer.reader},
		Index:   s.index, Semantic: s.semantic, Phrases: offer.phrases,
	}}
}

// session returns the Session of a request. If the session has ended since the transport checked it, session returns a
// new one.
func (s *Server) session(ctx context.Context) *Session {
	switch c := server.ClientSessionFromContext(ctx).(type) {
	case nil:
	case *local:
		return c.Session
	default:
		if sess := s.sessions.Get(c.SessionID()); sess != nil {
			return sess
		}
	}
	return s.NewSession(Client{})
}
