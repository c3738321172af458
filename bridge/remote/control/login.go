package control

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/transport"
)

var base64URL = base64.RawURLEncoding

type provider struct {
	Name         string `json:"name"`
	State        string `json:"state"`
	CodeVerifier string `json:"codeVerifier"`
	AuthURL      string `json:"authUrl"` // ends where the redirect URL must be appended
}

// exchangeID is the length in characters of the ID under which the service stores the browser's code. The ID is the
// beginning of provider.State.
const exchangeID = 15

// ErrProvider is the error for an unknown provider, and for an empty name if there is not exactly one provider. Errors
// that wrap it list the providers.
var ErrProvider = errors.New("choose how to log in")

// Login logs a user in. It calls show with an address to open in a browser, and waits until the login there is complete
// or ctx ends. name is the provider; it may be empty if there is only one. Login stores the login.
func (c *Client) Login(ctx context.Context, s Service, name string, show func(address string)) (Login, error) {
	p, err := c.provider(ctx, s, name)
	if err != nil {
		return Login{}, err
	}
	redirect := s.Auth + "/api/oauth2-redirect"
	show(p.AuthURL + url.QueryEscape(redirect))
	code, err := c.code(ctx, s, p)
	if err != nil {
		return Login{}, err
	}
	login := Login{Service: s}
	err = c.authenticate(ctx, &login, "auth-with-oauth2", map[string]string{
		"provider": p.Name, "code": code, "codeVerifier": p.CodeVerifier, "redirectUrl": redirect,
	})
	if err != nil {
		return Login{}, fmt.Errorf("log in with %q: %w", p.Name, err)
	}
	return login, c.o.Logins.Store(login)
}

func (c *Client) provider(ctx context.Context, s Service, name string) (provider, error) {
	var methods struct {
		AuthProviders []provider `json:"authProviders"`
	}
	if err := c.call(ctx, http.MethodGet, users(s, "auth-methods"), "", nil, &methods); errors.Is(err, transport.ErrNoDocument) || errors.Is(err, errRefused) {
		return provider{}, protocol(s.Auth, "it supports no login")
	} else if err != nil {
		return provider{}, err
	}
	providers := slices.DeleteFunc(methods.AuthProviders, func(p provider) bool { return !isName(p.Name) })
	var names []string
	for _, p := range providers {
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	i := slices.IndexFunc(providers, func(p provider) bool { return p.Name == name })
	if name == "" && len(names) == 1 {
		i = 0
	}
	if i < 0 {
		return provider{}, fmt.Errorf("%w: %s has the providers %s", ErrProvider, s.Auth, cmp.Or(transport.Said(strings.Join(names, ", ")), "(none)"))
	}
	p := providers[i]
	// A browser opens this address, so it must be a web address, not a file or a command-line flag.
	if u, err := url.Parse(p.AuthURL); err != nil || u.Host == "" || !secure(u, "https", "http") {
		return provider{}, protocol(s.Auth, "the address of %q is not a web address", p.Name)
	}
	if len(p.State) < exchangeID || strings.Trim(p.State, alphanumeric) != "" {
		return provider{}, protocol(s.Auth, "the state of %q is invalid", p.Name)
	}
	return p, nil
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// code polls the service until the browser has passed the code to it.
func (c *Client) code(ctx context.Context, s Service, p provider) (string, error) {
	to := s.Auth + "/api/collections/code_exchange/records/" + p.State[:exchangeID]
	for {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(c.o.Poll):
		}
		var record struct {
			Code string `json:"code"`
		}
		err := c.call(ctx, http.MethodGet, to, "", nil, &record)
		switch {
		case err == nil && record.Code != "":
			return record.Code, nil
		case err == nil, errors.Is(err, transport.ErrNoDocument), errors.Is(err, transport.ErrUnreachable):
		default:
			return "", err
		}
	}
}

func (c *Client) authenticate(ctx context.Context, login *Login, how string, body any) error {
	var answer struct {
		Token  string `json:"token"`
		Record struct {
			ID, Email, Name string
		} `json:"record"`
	}
	if err := c.call(ctx, http.MethodPost, users(login.Service, how), login.Token, body, &answer); err != nil {
		return err
	}
	if !isToken(answer.Token) {
		return protocol(login.Auth, "the answer to a login has no token")
	}
	login.Token, login.Since = answer.Token, c.o.Now().UTC()
	login.User = transport.Said(cmp.Or(answer.Record.Email, answer.Record.Name, answer.Record.ID))
	return nil
}

func users(s Service, call string) string { return s.Auth + "/api/collections/users/" + call }

// maxToken is the maximum size in bytes of a token of any kind.
const maxToken = 16 << 10

// isToken reports whether text may be sent as a token in a header.
func isToken(text string) bool {
	return text != "" && len(text) <= maxToken && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

const (
	// refreshAge is the age of a user's token at which it is refreshed.
	refreshAge = 24 * time.Hour
	// refreshPause is the minimum time between refresh attempts.
	refreshPause = 10 * time.Minute
)

// login returns the stored login if it is for the given API. If api is "", it returns any login. It refreshes the login
// daily. If there is no valid login, the error wraps transport.ErrLogin.
func (c *Client) login(ctx context.Context, api string) (Login, error) {
	l, err := c.o.Logins.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Login{}, transport.ErrLogin
	case err != nil:
		return Login{}, fmt.Errorf("%w: %v", transport.ErrLogin, err)
	case api != "" && l.API != api:
		return Login{}, fmt.Errorf("%w at %s: the login is for %s", transport.ErrLogin, api, l.API)
	case l.ended(c.o.Now()):
		return Login{}, fmt.Errorf("%w: the login of %s has expired", transport.ErrLogin, l.User)
	case !c.refreshDue(l):
		return l, nil
	}
	next := l
	err = c.authenticate(ctx, &next, "auth-refresh", nil)
	switch {
	case errors.Is(err, errRefused):
		return Login{}, loginRefused(l)
	case err != nil:
		return l, nil // the old token is still valid
	}
	_ = c.o.Logins.Replace(l, next) // the old token stays valid for days
	return next, nil
}

// refreshDue reports whether a login should be refreshed. It returns true to only one of several concurrent callers.
func (c *Client) refreshDue(l Login) bool {
	now := c.o.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(l.Since) < refreshAge || now.Sub(c.refreshed) < refreshPause {
		return false
	}
	c.refreshed = now
	return true
}

func loginRefused(l Login) error {
	return fmt.Errorf("%w: %v of %s", transport.ErrLogin, errRefused, l.User)
}

// authorized sends a request with the token of the login for the given API. to returns the URL of the request.
func (c *Client) authorized(ctx context.Context, api, method string, to func(Service) string, body, answer any) error {
	l, err := c.login(ctx, api)
	if err != nil {
		return err
	}
	err = c.call(ctx, method, to(l.Service), l.Token, body, answer)
	if errors.Is(err, errRefused) {
		return loginRefused(l)
	}
	return err
}
