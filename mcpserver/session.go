package mcpserver

import (
	"context"
	"crypto/rand"

	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/names"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// Result is the answer to a tool call.
type Result = answer.Result

// Session is one client of a Server.
type Session struct {
	server *Server
	client *tool.Client
}

func (s *Session) id() string { return s.client.Session.ID() }

// ReadAll records that the session has read all of the note at name, for commands that read it
// without a tool.
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

// session returns the Session of a request. The transports let no request without one through; it
// would get an empty Session.
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
