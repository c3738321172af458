package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Service has the addresses of a control plane.
type Service struct {
	API  string `json:"api"`  // issues tokens
	Auth string `json:"auth"` // a PocketBase with users and folders
}

var ErrAddress = errors.New("is not the address of a service")

// ParseService checks the addresses of a service. They must use https, or http on this machine. The error wraps
// ErrAddress.
func ParseService(api, auth string) (Service, error) {
	s := Service{strings.TrimRight(api, "/"), strings.TrimRight(auth, "/")}
	for _, text := range []string{s.API, s.Auth} {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !secure(u, "https", "http") {
			if err == nil {
				text = u.Redacted()
			}
			return Service{}, fmt.Errorf("%q %w (https://host[:port][/path]; http:// on this machine only)", text, ErrAddress)
		}
	}
	return s, nil
}

// secure reports whether u has the scheme tls, or has the scheme plain and a host name of this machine.
func secure(u *url.URL, tls, plain string) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == tls || u.Scheme == plain && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

type Login struct {
	Service
	User  string    `json:"user"`  // display name: e-mail address, name or ID
	Token string    `json:"token"` // the user's secret, a JWT
	Since time.Time `json:"since"` // time when the token was issued
}

func (l Login) ended(now time.Time) bool {
	_, rest, _ := strings.Cut(l.Token, ".")
	payload, _, _ := strings.Cut(rest, ".")
	var claims struct {
		Exp int64 `json:"exp"`
	}
	data, err := base64URL.DecodeString(payload)
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return false // expiry unknown: the service decides
	}
	return claims.Exp > 0 && now.After(time.Unix(claims.Exp, 0))
}

type Logins interface {
	// Load returns the stored login, which may come from another process. The error wraps fs.ErrNotExist if there is none.
	Load() (Login, error)
	Store(Login) error
	// Replace stores login if old is still the stored login.
	Replace(old, login Login) error
}

type Options struct {
	Logins Logins
	// Now returns the current time. The default is time.Now.
	Now func() time.Time
	// Poll is the interval at which Login checks whether the user has finished in the browser. The default is one second.
	Poll time.Duration
}

type Client struct {
	o        Options
	http     *http.Client
	tokenSem chan struct{} // semaphore for token requests

	mu        sync.Mutex // guards the fields below
	refreshed time.Time  // time of the last attempt to refresh the login
}

const (
	// maxRequests is the maximum number of concurrent token requests.
	maxRequests = 5
	// maxAnswer is the maximum size of an answer in bytes. A page of folders has some 100 KiB.
	maxAnswer      = 4 << 20
	requestTimeout = 30 * time.Second
)

func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Poll = cmp.Or(o.Poll, time.Second)
	return &Client{
		o: o, tokenSem: make(chan struct{}, maxRequests),
		http: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxRequests, IdleConnTimeout: time.Minute},
			// A redirect would send codes and tokens to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

var (
	errRefused  = errors.New("the service does not accept the login")
	errRejected = errors.New("the service rejects the request")
)

// call sends a request with an optional JSON body, and decodes the answer. Errors about the service wrap one of the
// errors of package transport, errRefused or errRejected.
func (c *Client) call(ctx context.Context, method, to, bearer string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := transport.NewRequest(ctx, method, to, bearer, data)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "relayfs")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", req.URL.Host, transport.ConnectionError(err))
	}
	defer resp.Body.Close()
	if err := statusError(req.URL.Host, resp); err != nil {
		return err
	}
	if data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)); err != nil {
		return fmt.Errorf("%s: %w", req.URL.Host, transport.ConnectionError(err))
	}
	if len(data) > maxAnswer {
		return protocol(req.URL.Host, "an answer is larger than %d MiB", maxAnswer>>20)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		// The error may quote the answer, which may contain a token.
		return protocol(req.URL.Host, "an answer is not the expected JSON")
	}
	return nil
}

func protocol(host, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", transport.ErrProtocol, host, fmt.Sprintf(format, args...))
}

func statusError(host string, resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusOK:
		return nil
	case resp.StatusCode == http.StatusBadRequest:
		return fmt.Errorf("%w (%s: %s)", errRejected, host, resp.Status)
	case resp.StatusCode == http.StatusUnauthorized:
		return errRefused
	case resp.StatusCode == http.StatusForbidden:
		return transport.ErrNotShared
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w (%s: %s)", transport.ErrNoDocument, host, resp.Status)
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 500:
		return fmt.Errorf("%w (%s: %s)", transport.ErrUnreachable, host, resp.Status)
	}
	return fmt.Errorf("%w (%s: %s)", transport.ErrProtocol, host, resp.Status)
}
