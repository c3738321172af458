package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/semantic"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/names"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/transport/stream"
	"github.com/relayfs/relayfs/mcpserver/internal/transport/streamablehttp"
	"github.com/relayfs/relayfs/mcpserver/internal/watch"
)

// Approvals say which changes the person at the client is asked about.
type Approvals = approval.Approvals

// ParseApprovals reads "ask", "auto" or "deny" for everything, and "KIND=..." for one kind of change: create,
// update or delete. Later words win.
func ParseApprovals(words []string) (Approvals, error) { return approval.Parse(words) }

// Options of a Server. The zero value serves the toolset claude.
type Options struct {
	// Author is who changes are by; "" takes what each client calls itself.
	Author   string
	Version  string
	Toolsets []string // names; none means claude. CheckToolsets reports unknown ones
	ReadOnly bool     // offer only tools that change nothing
	Approve  Approvals
	Semantic *semantic.Index  // for semantic_search; nil creates one in memory
	Inflight *inflight.Budget // of HTTP clients; nil creates one of the default size
	Logger   *slog.Logger
}

// Server serves one workspace to any number of clients at a time.
type Server struct {
	*shared
	o     Options
	offer offer
}

// shared is what a Server shares with its variants for other clients.
type shared struct {
	ws       *bridge.Workspace
	log      *slog.Logger
	mcp      *server.MCPServer
	sessions *streamablehttp.Sessions[Session] // of HTTP; a stream holds its own
	index    *search.Index
	semantic *semantic.Index
	watches  *watch.Watches

	mu      sync.Mutex // protects the following
	closers []func()
}

func (s *shared) onClose(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, fn)
}

// Close ends HTTP sessions, and stops following the workspace's events. Streams end by themselves.
func (s *shared) Close() {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	for _, fn := range closers {
		fn()
	}
}

// New returns a Server of ws. It starts nothing.
func New(ws *bridge.Workspace, o Options) *Server {
	s := &Server{shared: &shared{ws: ws, log: o.Logger}, o: o}
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

// As returns a variant of s with another author. A variant shares everything with s and needs no Close.
func (s *Server) As(author string) *Server {
	v := *s
	v.o.Author = author
	return &v
}

// Unasked returns a variant of s for a person's own commands, which need no approval.
func (s *Server) Unasked() *Server {
	v := *s
	v.o.Approve = approval.None
	return &v
}

// Reading returns a variant of s for clients that may change nothing.
func (s *Server) Reading() *Server {
	v := *s
	v.o.ReadOnly = true
	v.offer = s.offer.reading()
	return &v
}

// offered filters tools/list and tools/call by the variant that a request came to.
func (s *Server) offered(ctx context.Context, all []mcp.Tool) []mcp.Tool {
	if !s.session(ctx).server.o.ReadOnly {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t mcp.Tool) bool { return !*t.Annotations.ReadOnlyHint })
}

// Call runs a tool by name, without a protocol. known is false if there is no such tool.
func (s *Server) Call(ctx context.Context, sess *Session, name string, args json.RawMessage) (res answer.Result, known bool) {
	i := slices.IndexFunc(s.offer.tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		return answer.Result{}, false
	}
	return s.offer.tools[i].Call(ctx, sess.client, args).Bounded(), true
}

// MaxMessage bounds a message on a stream, in bytes: the largest note with every character escaped.
const MaxMessage = stream.MaxMessage

// Lines reads messages from a stream; see stream.Lines.
func Lines(ctx context.Context, r io.Reader) (lines <-chan []byte, failed func() error) {
	return stream.Lines(ctx, r)
}

// ServeStream serves one client that sends JSON-RPC messages on r, one per line, and receives its
// answers on w. client ("stdio") names a client that gives no name. ServeStream returns nil when r
// ends and every request is answered. It returns ctx's error when ctx ends first; the caller must
// then close r, because a read may still wait on it. Each call is a session.
func (s *Server) ServeStream(ctx context.Context, r io.Reader, w io.Writer, client string) error {
	sess := s.NewSession(client)
	return stream.Serve(context.WithValue(ctx, streamKey{}, sess), r, w, stream.Options{
		Protocol: s.mcp, ID: sess.id(), Client: client, Subscriptions: s.watches, NoSuchTool: s.noSuchTool, Logger: s.log,
	})
}

func (s *Server) noSuchTool(name string) string {
	var names []string
	for _, t := range s.offer.tools {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("There is no tool %q. The tools are %s.", name, strings.Join(names, ", "))
}

// HTTPHandler serves Streamable HTTP at every path. It refuses requests of web pages from another origin, of
// another host on a loopback connection (DNS rebinding), and bodies longer than MaxMessage. It requires no
// token: see RequireToken. Close ends what it started.
func (s *Server) HTTPHandler() http.Handler {
	h, shutdown := streamablehttp.Handler(s.sessions, streamablehttp.Options{Protocol: s.mcp, Inflight: s.o.Inflight, MaxMessage: MaxMessage})
	s.onClose(shutdown)
	return h
}

// RequireToken passes on only requests with token as a bearer token (RFC 6750), and none if it is empty.
func RequireToken(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if token == "" || !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="relayfs"`)
			http.Error(w, "Unauthorized: a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Result is the answer to a tool call.
type Result = answer.Result

// Session is one client of a Server.
type Session struct {
	server *Server
	client *tool.Client
}

func (s *Session) id() string { return s.client.Session.ID() }

// ReadAll records that a command has read all of the note at name without a tool.
func (s *Session) ReadAll(ctx context.Context, name string) error {
	p, v, err := s.client.Names.Note(ctx, name)
	if err == nil {
		s.client.Session.ShowAll(session.Document{Path: p, Text: v.Text(), Version: v})
	}
	return err
}

// NewSession returns a client that calls tools without a protocol.
func (s *Server) NewSession(client string) *Session { return s.newSession(rand.Text(), client) }

func (s *Server) newSession(id, client string) *Session {
	own := session.New(session.Options{ID: id, Client: client, Author: s.o.Author, Outcomes: s.ws, Logger: s.log})
	gate := approval.NewGate(s.o.Approve, s.ws.Options().Mode == bridge.Direct)
	return &Session{server: s, client: &tool.Client{
		Workspace: s.ws, Session: own, Names: names.Resolver{Workspace: s.ws},
		Changes: change.Changes{Workspace: s.ws, Session: own, Gate: gate},
		Index:   s.index, Semantic: s.semantic, Words: s.offer.words, NoteReader: s.offer.noteReader,
	}}
}

type streamKey struct{} // of a stream's Session in the context of its requests

// session returns the Session of a request. The transports let none without a Session through.
func (s *Server) session(ctx context.Context) *Session {
	if sess, ok := ctx.Value(streamKey{}).(*Session); ok {
		return sess
	}
	if c := server.ClientSessionFromContext(ctx); c != nil {
		if sess := s.sessions.Get(c.SessionID()); sess != nil {
			return sess
		}
	}
	return s.NewSession("")
}
