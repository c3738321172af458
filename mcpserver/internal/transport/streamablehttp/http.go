// Package streamablehttp serves the protocol over Streamable HTTP, and keeps the sessions
// of its clients. It knows no tool and no note. The lock of Sessions protects which there
// are.
package streamablehttp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/inflight"
)

// Options of Streamable HTTP.
type Options struct {
	Protocol   *server.MCPServer
	Inflight   *inflight.Budget
	MaxMessage int64 // the longest body of a request
}

// Handler serves Streamable HTTP. It refuses requests that a web page on another origin
// makes a browser send, requests on a loopback connection for another host (DNS
// rebinding), and bodies that are too long. It asks for no token: see RequireToken.
// shutdown ends what it started.
//
// Only protocol versions with sessions are offered. The newest has none, and a
// server could not tell which client has read what.
func Handler[S any](sessions *Sessions[S], o Options) (h http.Handler, shutdown func()) {
	transport := server.NewStreamableHTTPServer(o.Protocol,
		server.WithStreamableHTTPProtocolVersions(mcp.LegacyProtocolVersions()...),
		server.WithSessionIdManager(sessions),
		server.WithSessionIdleTTL(sessionIdle),
	)
	sessions.ended = func(id string) { goodbye(transport, id) }
	return sameOrigin(promptBody(o, transport)), func() { _ = transport.Shutdown(context.Background()) }
}

// goodbye ends a session at the transport as its client should have done.
func goodbye(transport http.Handler, id string) {
	r := &http.Request{Method: http.MethodDelete, URL: &url.URL{Path: "/"}, Header: http.Header{}}
	r.Header.Set(server.HeaderKeySessionID, id)
	transport.ServeHTTP(&noResponse{http.Header{}}, r)
}

// noResponse takes an answer that nobody waits for.
type noResponse struct{ header http.Header }

func (w *noResponse) Header() http.Header         { return w.header }
func (w *noResponse) Write(p []byte) (int, error) { return len(p), nil }
func (w *noResponse) WriteHeader(int)             {}

// bodyTime is how long the body of a request may take to arrive.
const bodyTime = 30 * time.Second

// promptBody reads the body of a request before it is worked on, and bounds the time
// and the memory for that, not the time for which an answer is worked on or a stream
// stays open.
func promptBody(o Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // not over every transport
		data, release, err := o.Inflight.Read(http.MaxBytesReader(w, r.Body, o.MaxMessage))
		_ = c.SetReadDeadline(time.Time{})
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			http.Error(w, "request is too large", http.StatusRequestEntityTooLarge)
			return
		case errors.Is(err, inflight.ErrFull):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, "request does not come to its end", http.StatusRequestTimeout)
			return
		}
		defer release()
		r.Body = io.NopCloser(bytes.NewReader(data))
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses requests whose Origin is not the host they are sent to.
// Programs send no Origin.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" && !ownOrigin(origin, r.Host) {
			http.Error(w, "Forbidden: foreign Origin header", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func ownOrigin(origin, host string) bool {
	_, rest, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(rest, host)
}

// RequireToken lets only requests through that carry token as a bearer token
// (RFC 6750); an empty token lets none.
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
