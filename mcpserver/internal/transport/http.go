package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// HTTPOptions of Streamable HTTP.
type HTTPOptions struct {
	Protocol   *server.MCPServer
	Inflight   *Budget
	MaxMessage int64 // the longest body of a request
}

// HTTPHandler serves Streamable HTTP. It refuses bodies that are too long, and asks for no token. shutdown ends what it
// started.
//
// It offers only protocol versions with sessions: in the newest one, which has none, a server
// cannot tell which client has read what.
//
// prepare returns a message of a session as the protocol is to handle it, or else the reply to it.
func HTTPHandler[S any](sessions *Sessions[S], o HTTPOptions, prepare func(context.Context, *S, []byte) (prepared []byte, reply any)) (h http.Handler, shutdown func()) {
	transport := server.NewStreamableHTTPServer(o.Protocol,
		server.WithStreamableHTTPProtocolVersions(mcp.LegacyProtocolVersions()...),
		server.WithSessionIdManager(sessions),
		server.WithSessionIdleTTL(sessionIdle),
	)
	sessions.ended = func(id string) { goodbye(transport, id) }
	prepared := func(w http.ResponseWriter, r *http.Request, message []byte) {
		if sess := sessions.Get(r.Header.Get(server.HeaderKeySessionID)); sess != nil {
			var reply any
			if message, reply = prepare(r.Context(), sess, message); reply != nil {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(reply) // to a client that may be gone
				return
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		transport.ServeHTTP(w, r)
	}
	return promptBody(o, transport, prepared), func() { _ = transport.Shutdown(context.Background()) }
}

// sessionIdle is how long a session stays that is not used.
const sessionIdle = time.Hour

// goodbye ends a session at the transport as its client should have done.
func goodbye(transport http.Handler, id string) {
	r := &http.Request{Method: http.MethodDelete, URL: &url.URL{Path: "/"}, Header: http.Header{}}
	r.Header.Set(server.HeaderKeySessionID, id)
	transport.ServeHTTP(&noResponse{http.Header{}}, r)
}

// noResponse is a ResponseWriter for an answer that nobody reads.
type noResponse struct{ header http.Header }

func (w *noResponse) Header() http.Header         { return w.header }
func (w *noResponse) Write(p []byte) (int, error) { return len(p), nil }
func (w *noResponse) WriteHeader(int)             {}

// bodyTime is how long the body of a request may take to arrive.
const bodyTime = 30 * time.Second

// promptBody reads the body of a request before withBody handles the request; next handles those without one. It bounds the time and the
// memory for that, but not how long the answer takes or a stream stays open.
func promptBody(o HTTPOptions, next http.Handler, withBody func(http.ResponseWriter, *http.Request, []byte)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // some transports have none
		data, release, err := o.Inflight.Read(http.MaxBytesReader(w, r.Body, o.MaxMessage))
		_ = c.SetReadDeadline(time.Time{})
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "request is too large", http.StatusRequestEntityTooLarge)
			return
		case errors.Is(err, ErrBudget):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, "request does not come to its end", http.StatusRequestTimeout)
			return
		}
		defer release()
		withBody(w, r, data)
	})
}

// maxSessions bounds the sessions, because few clients end theirs. Of more the one that was idle longest ends.
const maxSessions = 1024

// Sessions holds the sessions of HTTP clients by id. It is the transport's session id manager: a
// request with an unknown id is answered 404, upon which a client starts a new session.
type Sessions[S any] struct {
	create func(id string) *S
	// ended makes the transport forget a session. It is set before the first session.
	ended func(id string)

	mu   sync.Mutex // protects the following
	all  map[string]*S
	used []string // the ids, the one that was idle longest first
}

// NewSessions returns Sessions that create makes.
func NewSessions[S any](create func(id string) *S) *Sessions[S] {
	return &Sessions[S]{create: create, ended: func(string) {}, all: map[string]*S{}}
}

// Generate starts a session and returns its id.
func (x *Sessions[S]) Generate() string {
	id := rand.Text() // cannot be guessed
	x.mu.Lock()
	idlest := ""
	if len(x.used) == maxSessions {
		idlest = x.used[0]
		x.remove(idlest)
	}
	x.all[id], x.used = x.create(id), append(x.used, id)
	x.mu.Unlock()
	if idlest != "" {
		x.ended(idlest)
	}
	return id
}

func (x *Sessions[S]) remove(id string) {
	delete(x.all, id)
	x.used = slices.DeleteFunc(x.used, func(other string) bool { return other == id })
}

// Len is how many sessions there are.
func (x *Sessions[S]) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// Validate reports an unknown session as ended.
func (x *Sessions[S]) Validate(id string) (ended bool, err error) { return x.Get(id) == nil, nil }

// Terminate ends a session.
func (x *Sessions[S]) Terminate(id string) (notAllowed bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
	return false, nil
}

// Get returns the session with that id and counts as its use. It is nil if there is none.
func (x *Sessions[S]) Get(id string) *S {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.all[id]
	if s != nil {
		x.used = append(slices.DeleteFunc(x.used, func(other string) bool { return other == id }), id)
	}
	return s
}
