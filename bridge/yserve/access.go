package yserve

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/host"
)

// refusal is a status and a sentence for the client.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

var (
	errNoToken  = &refusal{http.StatusUnauthorized, "no token: send Authorization: Bearer TOKEN"}
	errBadToken = &refusal{http.StatusUnauthorized, "token is not valid here"}
	errExpired  = &refusal{http.StatusUnauthorized, "token has expired"}
	errResource = &refusal{http.StatusUnauthorized, "token is for something else"}
	errReadOnly = &refusal{http.StatusForbidden, "token permits reading only"}
	errUnknown  = &refusal{http.StatusNotFound, "no such document"}
	errBadID    = &refusal{http.StatusBadRequest, "no note has that name, and a document's id has letters, digits, - and _ only"}
	errBusy     = &refusal{http.StatusServiceUnavailable, "too many connections or documents are open"}
)

// fail answers with err.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	no := s.refusalOf(r, err)
	http.Error(w, no.text, no.status)
}

// refusalOf is what the client is told of err. What it cannot mend is in the log.
func (s *Server) refusalOf(r *http.Request, err error) *refusal {
	var no *refusal
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return errUnknown
	case errors.Is(err, bridge.ErrReadOnly):
		return &refusal{http.StatusForbidden, "note is read-only"}
	case errors.Is(err, bridge.ErrOffline), errors.Is(err, bridge.ErrClosed):
		return &refusal{http.StatusServiceUnavailable, "folder is offline"}
	}
	s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, bridge.LogErr, err)
	return &refusal{http.StatusInternalServerError, "internal error"}
}

// open says that no tokens are needed.
func (s *Server) open() bool { return len(s.keys.Load().ring) == 0 }

// claims are what the request's token says; everything, if no tokens are needed.
func (s *Server) claims(r *http.Request) (token.Claims, error) {
	c, err := s.verify(requestToken(r))
	if err == nil {
		s.o.Known(r)
	}
	return c, err
}

// requestToken is the token that a request brings.
func requestToken(r *http.Request) string {
	text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		text = r.URL.Query().Get("token")
	}
	return text
}

// verify is what a token says.
func (s *Server) verify(text string) (token.Claims, error) {
	switch {
	case s.open():
		return token.Claims{Scope: token.Scope{Kind: token.Server}}, nil
	case text == "":
		return token.Claims{}, errNoToken
	}
	c, err := s.keys.Load().ring.Verify(text, s.o.URL, time.Now())
	switch {
	case errors.Is(err, token.ErrExpired):
		return c, errExpired
	case err != nil:
		return c, errBadToken
	}
	return c, nil
}

// onServer checks that the request has a server token.
func (s *Server) onServer(r *http.Request) error {
	c, err := s.claims(r)
	if err == nil && !c.OnServer() {
		return errResource
	}
	return err
}

// onDoc says what the request may do with a document.
func (s *Server) onDoc(r *http.Request, id string) (token.Claims, token.Permission, error) {
	c, err := s.claims(r)
	return s.claimed(c, err, id)
}

// permit says what who has a token may do with a document.
func (s *Server) permit(text, id string) (token.Claims, token.Permission, error) {
	c, err := s.verify(text)
	return s.claimed(c, err, id)
}

func (s *Server) claimed(c token.Claims, err error, id string) (token.Claims, token.Permission, error) {
	if !host.ValidID(id) {
		return c, 0, errBadID
	}
	if err != nil {
		return c, 0, err
	}
	p, ok := c.OnDoc(id)
	if !ok {
		return c, 0, errResource
	}
	return c, p, nil
}

// allowed says whether a request may come in without a token being looked at:
// to an open server only from this machine, and not from a page of the web.
func (s *Server) allowed(r *http.Request) bool {
	if !s.open() {
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
