package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/semantic"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/transport/stream"
	"github.com/relayfs/relayfs/mcpserver/internal/transport/streamablehttp"
	"github.com/relayfs/relayfs/mcpserver/internal/watch"
)

// Options of a Server. The zero value serves the toolset claude.
type Options struct {
	// Author is who changes are by; "" takes what each client calls itself.
	Author   string
	Version  string
	Toolsets []string // names; none means claude. CheckToolsets tells unknown ones
	ReadOnly bool     // offer only tools that change nothing
	Approve  Approvals
	// Semantic is what semantic_search searches; nil makes one that is kept in
	// memory.
	Semantic *semantic.Index
	// Inflight is what clients may send over HTTP at a time; nil is one of the
	// default size.
	Inflight *inflight.Budget
	Logger   *slog.Logger
}

// Server serves one workspace to any number of clients at a time.
type Server struct {
	ws       *bridge.Workspace
	o        Options
	log      *slog.Logger
	offer    offer
	mcp      *server.MCPServer
	sessions *streamablehttp.Sessions[Session] // those of HTTP; a stream holds its own
	index    *search.Index
	semantic *semantic.Index
	watches  *watch.Watches

	mu      sync.Mutex // protects the following
	closers []func()
}

// onClose has fn called by Close.
func (s *Server) onClose(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, fn)
}

// Close ends HTTP sessions and what follows the workspace's events. Streams end
// by themselves.
func (s *Server) Close() {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	for _, fn := range closers {
		fn()
	}
}

// New makes a server over ws. It starts nothing.
func New(ws *bridge.Workspace, o Options) *Server {
	s := &Server{ws: ws, o: o, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.o.Inflight == nil {
		s.o.Inflight = inflight.New(inflight.Default)
	}
	s.offer, _ = pick(o.Toolsets, o.ReadOnly || ws.Options().ReadOnly)
	s.sessions = streamablehttp.NewSessions(func(id string) *Session { return s.newSession(id, "http") })
	s.index = search.NewIndex(ws)
	if s.semantic = o.Semantic; s.semantic == nil {
		s.semantic = semantic.New(ws, semantic.Options{Logger: o.Logger})
	}
	s.watches = watch.New(ws, s.tellUpdated)
	s.onClose(s.index.Close)
	s.onClose(s.watches.Close)
	hooks := new(server.Hooks)
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, req *mcp.InitializeRequest, _ *mcp.InitializeResult) {
		s.session(ctx).client.Session.SetClient(req.Params.ClientInfo.Name, req.Params.Capabilities.Elicitation != nil)
	})
	hooks.AddOnError(stream.NoteUnknownTool)
	s.mcp = server.NewMCPServer("relayfs", o.Version,
		server.WithTitle("relayfs: shared notes"),
		server.WithInstructions(instructions(ws.Options(), s.offer.tools)),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(true, false),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completer{s}),
		server.WithResourceCompletionProvider(completer{s}),
		server.WithToolFilter(s.offered),
		server.WithRecovery(),
		server.WithLogger(s.log),
		server.WithHooks(hooks),
	)
	for _, t := range s.offer.tools {
		s.mcp.AddTool(definition(t), s.handler(t))
	}
	s.addResources(hooks)
	s.addPrompts()
	return s
}

// As is the same server for clients whose changes are by author. It shares
// everything with s, and needs no Close of its own.
func (s *Server) As(author string) *Server {
	v := s.variant()
	v.o.Author = author
	return v
}

// Unasked is the same server for a person's own commands, whose changes need no
// approval. It shares everything with s, and needs no Close of its own.
func (s *Server) Unasked() *Server {
	v := s.variant()
	v.o.Approve = approval.None
	return v
}

// Reading is the same server for clients that may change nothing. It shares
// everything with s, and needs no Close of its own.
func (s *Server) Reading() *Server {
	v := s.variant()
	v.o.ReadOnly = true
	v.offer = s.offer.reading()
	return v
}

func (s *Server) variant() *Server {
	return &Server{ws: s.ws, o: s.o, log: s.log, offer: s.offer, mcp: s.mcp, sessions: s.sessions, index: s.index, semantic: s.semantic, watches: s.watches}
}

// offered are the tools of the variant that a request came to: the filter of
// tools/list and tools/call.
func (s *Server) offered(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	if !s.session(ctx).server.o.ReadOnly {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return !*t.Annotations.ReadOnlyHint })
}

// Call runs a tool by name, without a protocol. known is false if there is no
// such tool.
func (s *Server) Call(ctx context.Context, sess *Session, name string, args json.RawMessage) (res answer.Result, known bool) {
	i := slices.IndexFunc(s.offer.tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return answer.Result{}, false
	}
	res = s.offer.tools[i].Call(ctx, sess.client, args)
	if res.Err == nil && res.Ask == "" {
		res = res.Bounded()
	}
	return res, true
}
