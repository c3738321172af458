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
	"github.com/relayfs/relayfs/mcpserver/internal/schema"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
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

// CheckToolsets says whether names are names of toolsets.
func CheckToolsets(names []string) error {
	_, err := pick(names, false)
	return err
}

// Server serves one workspace to any number of clients at a time.
type Server struct {
	ws       *bridge.Workspace
	o        Options
	log      *slog.Logger
	tools    []tool
	mcp      *server.MCPServer
	sessions *sessions // those of HTTP; a stream holds its own
	index    *search.Index
	semantic *semantic.Index
	watches  *watches

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
	s.tools, _ = pick(o.Toolsets, o.ReadOnly || ws.Options().ReadOnly)
	s.sessions = newSessions(s.newSession)
	s.index = search.NewIndex(ws)
	if s.semantic = o.Semantic; s.semantic == nil {
		s.semantic = semantic.New(ws, semantic.Options{Logger: o.Logger})
	}
	s.watches = newWatches(ws, s.tellUpdated)
	s.onClose(s.index.Close)
	s.onClose(s.watches.close)
	hooks := new(server.Hooks)
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, req *mcp.InitializeRequest, _ *mcp.InitializeResult) {
		s.session(ctx).setClient(req.Params.ClientInfo.Name, req.Params.Capabilities.Elicitation != nil)
	})
	hooks.AddOnError(noteUnknownTool)
	s.mcp = server.NewMCPServer("relayfs", o.Version,
		server.WithTitle("relayfs: shared notes"),
		server.WithInstructions(instructions(ws.Options(), s.tools)),
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
	for _, t := range s.tools {
		s.mcp.AddTool(t.definition(), s.handler(t))
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
	v.tools = slices.DeleteFunc(slices.Clone(s.tools), func(t tool) bool { return !t.hints.readOnly })
	return v
}

func (s *Server) variant() *Server {
	return &Server{ws: s.ws, o: s.o, log: s.log, tools: s.tools, mcp: s.mcp, sessions: s.sessions, index: s.index, semantic: s.semantic, watches: s.watches}
}

// offered are the tools of the variant that a request came to: the filter of
// tools/list and tools/call.
func (s *Server) offered(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	if !s.session(ctx).server.o.ReadOnly {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return !*t.Annotations.ReadOnlyHint })
}

// maxResultSize says, to Claude Code, from how many characters on an answer is put
// into a file instead of being shown. Its own limit may be below maxAnswer.
const maxResultSize = "anthropic/maxResultSizeChars"

// definition is the tool as the protocol describes it. All four hints are set:
// those left out would take the protocol's alarming defaults.
func (t tool) definition() mcp.Tool {
	def := mcp.NewToolWithRawSchema(t.name, t.description, schema.OfArguments(t.params))
	def.Title = t.title
	def.RawOutputSchema = t.output
	if t.hints.readOnly {
		def.Meta = &mcp.Meta{AdditionalFields: map[string]any{maxResultSize: 300_000}}
	}
	no := false
	def.Annotations = mcp.ToolAnnotation{
		Title: t.title, ReadOnlyHint: &t.hints.readOnly, DestructiveHint: &t.hints.destructive,
		IdempotentHint: &t.hints.idempotent, OpenWorldHint: &no,
	}
	return def
}

// handler adapts a tool to the protocol.
func (s *Server) handler(t tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := req.Params.RawArguments
		if raw == nil {
			var err error
			if raw, err = json.Marshal(req.Params.Arguments); err != nil {
				return nil, err
			}
		}
		res := t.call(s.withAnswer(s.withProgress(ctx, req), req), s.session(ctx), raw)
		if res.Ask != "" {
			return elicit(res.Ask), nil
		}
		if res.Err != nil {
			s.log.Error("tool call failed", "tool", t.name, bridge.LogErr, res.Err)
			return nil, res.Err
		}
		res = res.Bounded()
		out := &mcp.CallToolResult{IsError: res.IsError, Content: make([]mcp.Content, 0, len(res.Text))}
		for _, block := range res.Blocks() {
			out.Content = append(out.Content, mcp.NewTextContent(block))
		}
		if res.Structured != nil {
			out.StructuredContent = res.Structured
		}
		return out, nil
	}
}

// has says whether there is a tool of that name.
func (s *Server) has(name string) bool {
	return slices.ContainsFunc(s.tools, func(t tool) bool { return t.name == name })
}

// Call runs a tool by name, without a protocol. known is false if there is no
// such tool.
func (s *Server) Call(ctx context.Context, sess *Session, name string, args json.RawMessage) (res answer.Result, known bool) {
	i := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return answer.Result{}, false
	}
	res = s.tools[i].call(ctx, sess, args)
	if res.Err == nil && res.Ask == "" {
		res = res.Bounded()
	}
	return res, true
}

// NewSession is a client that calls tools without a protocol.
func (s *Server) NewSession(client string) *Session { return s.newSession(newID(), client) }

func (s *Server) newSession(id, client string) *Session {
	return &Session{server: s, id: id, client: client, shown: make(map[bridge.Path]shownDoc),
		gate: approval.NewGate(s.o.Approve, s.ws.Options().Mode == bridge.Direct)}
}

// session is the Session that a request belongs to. A request of none, which the
// transports here do not let through, gets one that knows nothing.
func (s *Server) session(ctx context.Context) *Session {
	switch c := server.ClientSessionFromContext(ctx).(type) {
	case nil:
		return s.NewSession("")
	case *stream:
		return c.session
	default:
		if sess := s.sessions.get(c.SessionID()); sess != nil {
			return sess
		}
		return s.NewSession("")
	}
}
