// Package access decides who is let in, and what a client may do: by the token that it
// shows, or, without keys, by its address. It answers no request and knows documents only
// by their ids.
//
// # Concurrency
//
// Everything is safe for concurrent use, without a lock: the keys are replaced as a whole.
package access

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// Refusal is an HTTP status and a sentence for the client.
type Refusal struct {
	Status int
	Text   string
}

func (e *Refusal) Error() string { return e.Text }

// Refuse returns a Refusal.
func Refuse(status int, text string) *Refusal { return &Refusal{status, text} }

var (
	ErrNoToken  = &Refusal{http.StatusUnauthorized, "no token: send Authorization: Bearer TOKEN"}
	ErrBadToken = &Refusal{http.StatusUnauthorized, "token is not valid here"}
	ErrExpired  = &Refusal{http.StatusUnauthorized, "token has expired"}
	ErrResource = &Refusal{http.StatusUnauthorized, "token is for something else"}
	ErrReadOnly = &Refusal{http.StatusForbidden, "token permits reading only"}
	ErrUnknown  = &Refusal{http.StatusNotFound, "no such document"}
	ErrBadID    = &Refusal{http.StatusBadRequest, "no note has that name, and a document's id has letters, digits, - and _ only"}
	ErrBusy     = &Refusal{http.StatusServiceUnavailable, "too many connections or documents are open"}
)

type keys struct {
	ring token.Ring
	mint *token.Key
}

// Access lets clients in.
type Access struct {
	url   string // the audience of tokens, "" for any
	known func(*http.Request)
	keys  atomic.Pointer[keys]
}

// New returns an Access that lets in clients with a token of a key in ring, or everybody
// from this machine if ring is empty. url is the audience that a token must name, unless it
// is "". known is called for requests with a valid token.
func New(ring token.Ring, mint *token.Key, url string, known func(*http.Request)) *Access {
	a := &Access{url: url, known: known}
	a.keys.Store(&keys{ring, mint})
	return a
}

// SetKeys replaces the keys. It returns false and does nothing if there are no present or
// no new ones: clients that were let in without a token have none.
func (a *Access) SetKeys(ring token.Ring, mint *token.Key) (ok bool) {
	if a.Open() || len(ring) == 0 {
		return false
	}
	a.keys.Store(&keys{ring, mint})
	return true
}

// Mint returns the key for new tokens, nil if there is none.
func (a *Access) Mint() *token.Key { return a.keys.Load().mint }

// Known records a request whose valid token came by another way.
func (a *Access) Known(r *http.Request) { a.known(r) }

// Open reports whether no tokens are needed.
func (a *Access) Open() bool { return len(a.keys.Load().ring) == 0 }

// RequestToken returns the token of a request.
func RequestToken(r *http.Request) string {
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		text = r.URL.Query().Get("token")
	}
	return text
}

// Verify returns the claims of a token; all permissions, if no tokens are needed.
func (a *Access) Verify(text string) (token.Claims, error) {
	switch {
	case a.Open():
		return token.Claims{Scope: token.Scope{Kind: token.Server}}, nil
	case text == "":
		return token.Claims{}, ErrNoToken
	}
	c, err := a.keys.Load().ring.Verify(text, a.url, time.Now())
	switch {
	case errors.Is(err, token.ErrExpired):
		return c, ErrExpired
	case err != nil:
		return c, ErrBadToken
	}
	return c, nil
}

// Claims returns the claims of the request's token.
func (a *Access) Claims(r *http.Request) (token.Claims, error) {
	c, err := a.Verify(RequestToken(r))
	if err == nil {
		a.known(r)
	}
	return c, err
}

// OnServer checks that the request has a server token.
func (a *Access) OnServer(r *http.Request) error {
	c, err := a.Claims(r)
	if err == nil && !c.OnServer() {
		return ErrResource
	}
	return err
}

// OnDoc returns what the request may do with a document.
func (a *Access) OnDoc(r *http.Request, id string) (token.Claims, token.Permission, error) {
	c, err := a.Claims(r)
	return onDoc(c, err, id)
}

// Permit returns what a client with a token may do with a document.
func (a *Access) Permit(text, id string) (token.Claims, token.Permission, error) {
	c, err := a.Verify(text)
	return onDoc(c, err, id)
}

func onDoc(c token.Claims, err error, id string) (token.Claims, token.Permission, error) {
	if !host.ValidID(id) {
		return c, 0, ErrBadID
	}
	if err != nil {
		return c, 0, err
	}
	p, ok := c.OnDoc(id)
	if !ok {
		return c, 0, ErrResource
	}
	return c, p, nil
}

// Allowed reports whether a request may proceed to the check of its token. On an open
// server it must come from this machine, and not from a page of the web.
func (a *Access) Allowed(r *http.Request) bool {
	if !a.Open() {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !loopback(strings.Trim(host, "[]")) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && loopback(u.Hostname())
}

// loopback reports whether a host is this machine, by its name alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
