package transport

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
)

// guard sends the requests of a Server, including those for websockets. It refuses requests without TLS if the address
// has TLS, and detects the kind of server from the answers.
type guard struct {
	http.RoundTripper
	secure bool        // the address has TLS, so every request must have it
	frames bool        // the token is sent in frames, so it goes to the host to which the redirects lead
	relay  atomic.Bool // the server is relay-server
	served atomic.Bool // the server has answered a request with a status below 300
}

// relayHeader is a header that only relay-server sends, in every answer.
const relayHeader = "Relay-Server-Version"

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.secure && r.URL.Scheme != "https" {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("%w: %s://%s has no TLS", ErrUnsafeRedirect, r.URL.Scheme, r.URL.Host)
	}
	resp, err := g.RoundTripper.RoundTrip(r)
	if err == nil && resp.Header.Get(relayHeader) != "" {
		g.relay.Store(true)
	}
	if err == nil && resp.StatusCode < http.StatusMultipleChoices { // other answers may come from a proxy
		g.served.Store(true)
	}
	return resp, err
}

const maxRedirects = 10

// checkRedirect refuses to follow a redirect to another host if that host could get the token: from the Referer if the
// request has the token, and otherwise from frames.
func (g *guard) checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case next.URL.Host != first.URL.Host && (g.frames || first.Header.Get("Authorization") != "" || first.URL.Query().Has("token")):
		return fmt.Errorf("%w: it redirects to %s", ErrUnsafeRedirect, next.URL.Host)
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	}
	return nil
}
