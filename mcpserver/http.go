package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// HTTPHandler serves Streamable HTTP at every path, by mcp-go, in the protocol versions with sessions, which are the
// versions before 2026-07-28. It needs a session to record what a client has read. The caller must check authorization.
// Close ends the sessions.
func (s *Server) HTTPHandler() http.Handler {
	transport := server.NewStreamableHTTPServer(s.mcp,
		server.WithStreamableHTTPProtocolVersions(mcp.LegacyProtocolVersions()...),
		server.WithSessionIdManager(s.sessions),
		server.WithSessionIdleTTL(sessionIdle),
	)
	s.onClose(func() { _ = transport.Shutdown(context.Background()) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			if id := r.Header.Get(server.HeaderKeySessionID); r.Method == http.MethodGet && id != "" && s.sessions.Get(id) == nil {
				http.Error(w, "there is no such session", http.StatusNotFound) // mcp-go would wait
				return
			}
			transport.ServeHTTP(w, r)
			return
		}
		message, ok := readBody(w, r)
		if !ok {
			return
		}
		if sess := s.sessions.Get(r.Header.Get(server.HeaderKeySessionID)); sess != nil {
			var reply any
			if message, reply = s.prepare(r.Context(), sess, requestOf(message), message); reply != nil {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(reply) // the client may have disconnected
				return
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		transport.ServeHTTP(w, r)
	})
}

const sessionIdle = time.Hour

const bodyTime = 30 * time.Second

// readBody reads a request body. It limits the size of the body and the time for reading it, but not the duration of
// the answer or of a stream. It answers a request that exceeds these limits with an error.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // some transports have no deadline
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	_ = c.SetReadDeadline(time.Time{})
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		http.Error(w, "request is too large", http.StatusRequestEntityTooLarge)
	} else if err != nil {
		http.Error(w, "request body is incomplete", http.StatusRequestTimeout)
	}
	return body, err == nil
}

// maxSessions is the maximum number of sessions. A limit is needed because few clients end their sessions. Beyond it,
// the session that was idle longest is ended. mcp-go drops its own state of that session after sessionIdle.
const maxSessions = 1024

// httpSessions has the HTTP sessions by ID. It is the session ID manager for mcp-go: a request with an unknown ID gets
// status 404, and the client then starts a new session.
type httpSessions struct {
	s *Server

	mu   sync.Mutex // guards the fields below
	all  map[string]*Session
	used []string // session IDs, the longest idle first
}

func (x *httpSessions) Generate() string {
	id := rand.Text() // cannot be guessed
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.used) == maxSessions {
		x.remove(x.used[0])
	}
	x.all[id], x.used = x.s.newSession(id, Client{Name: "http"}), append(x.used, id)
	return id
}

func (x *httpSessions) remove(id string) {
	delete(x.all, id)
	x.used = slices.DeleteFunc(x.used, func(other string) bool { return other == id })
}

func (x *httpSessions) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// Validate reports whether a session has ended. An unknown session counts as ended.
func (x *httpSessions) Validate(id string) (ended bool, err error) { return x.Get(id) == nil, nil }

func (x *httpSessions) Terminate(id string) (notAllowed bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
	return false, nil
}

// Get returns the session with the given ID and marks it as used. It returns nil if the ID is unknown.
func (x *httpSessions) Get(id string) *Session {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[id]
	if s != nil {
		x.used = append(slices.DeleteFunc(x.used, func(other string) bool { return other == id }), id)
	}
	return s
}
