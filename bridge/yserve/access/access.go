package access

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// Refusal is a status and a sentence for the client.
type Refusal struct {
	Status int
	Text   string
}

func (e *Refusal) Error() string { return e.Text }

// Refuse makes a Refusal.
func Refuse(status int, text string) *Refusal { return &Refusal{status, text} }

// Refusals that clients get.
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

// Open says that no tokens are needed.
func (a *Access) Open() bool { return len(a.keys.Load().ring) == 0 }

// Claims are what the request's token says; everything, if no tokens are needed.
func (a *Access) Claims(r *http.Request) (token.Claims, error) {
	c, err := a.Verify(RequestToken(r))
	if err == nil {
		a.known(r)
	}
	return c, err
}

// RequestToken is the token that a request brings.
func RequestToken(r *http.Request) string {
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		text = r.URL.Query().Get("token")
	}
	return text
}

// Verify is what a token says.
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

// OnServer checks that the request has a server token.
func (a *Access) OnServer(r *http.Request) error {
	c, err := a.Claims(r)
	if err == nil && !c.OnServer() {
		return ErrResource
	}
	return err
}

// OnDoc says what the request may do with a document.
func (a *Access) OnDoc(r *http.Request, id string) (token.Claims, token.Permission, error) {
	c, err := a.Claims(r)
	return claimed(c, err, id)
}

// Permit says what who has a token may do with a document.
func (a *Access) Permit(text, id string) (token.Claims, token.Permission, error) {
	c, err := a.Verify(text)
	return claimed(c, err, id)
}

func claimed(c token.Claims, err error, id string) (token.Claims, token.Permission, error) {
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

// Allowed says whether a request may come in without a token being looked at:
// to an open server only from this machine, and not from a page of the web.
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

// loopback says whether a host is this machine by its name alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
