package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/transport/stream"
	"github.com/relayfs/relayfs/mcpserver/internal/transport/streamablehttp"
)

// MaxMessage is the longest message on a stream, in bytes: the largest note,
// every character of it escaped.
const MaxMessage = stream.MaxMessage

// ServeStream serves one client that sends JSON-RPC messages on r, one a line,
// and gets its answers on w; client says how it came ("stdio"), for the log and
// for a client that does not give its name. It returns nil when r ends and every
// request is answered, and ctx's error when ctx ends first: then the caller closes
// r, on which a read may still wait. Each call is a session of its own.
func (s *Server) ServeStream(ctx context.Context, r io.Reader, w io.Writer, client string) error {
	sess := s.NewSession(client)
	return stream.Serve(context.WithValue(ctx, streamKey{}, sess), r, w, stream.Options{
		Protocol: s.mcp, ID: sess.id(), Client: client, Subscriptions: s.watches, NoSuchTool: s.noSuchTool, Logger: s.log,
	})
}

// HTTPHandler serves Streamable HTTP at every path it is mounted on. It refuses
// requests that a web page on another origin makes a browser send, requests on a
// loopback connection for another host (DNS rebinding), and bodies longer than the
// largest note. It asks for no token: see RequireToken. Close ends what it started.
func (s *Server) HTTPHandler() http.Handler {
	h, shutdown := streamablehttp.Handler(s.sessions, streamablehttp.Options{Protocol: s.mcp, Inflight: s.o.Inflight, MaxMessage: MaxMessage})
	s.onClose(shutdown)
	return h
}

// Sessions is how many HTTP sessions are kept.
func (s *Server) Sessions() int { return s.sessions.Len() }

// RequireToken lets only requests through that carry token as a bearer token
// (RFC 6750); an empty token lets none.
func RequireToken(token string, next http.Handler) http.Handler {
	return streamablehttp.RequireToken(token, next)
}

// noSuchTool says which tools there are instead.
func (s *Server) noSuchTool(name string) string {
	var names []string
	for _, t := range s.offer.tools {
		names = append(names, t.Name)
	}
	return fmt.Sprintf("There is no tool %q. The tools are %s.", name, strings.Join(names, ", "))
}
