package token

import (
	"fmt"
	"net/url"
	"strings"
)

// Connection is the address of a server, with its server token.
type Connection struct {
	Secure bool   // https and wss
	Host   string // with the port, if one is given
	Prefix string // of every path: "" or "/p", without a trailing slash
	Token  string // server token, "" for an open server
}

// secureSchemes has whether a scheme means TLS.
var secureSchemes = map[string]bool{"ys": false, "yss": true, "http": false, "https": true}

// ParseConnection parses a connection string: ys://[token@]host[:port][/prefix], or
// yss:// for TLS; http:// and https:// mean the same. The token is percent-decoded. The
// error wraps ErrMalformed and does not quote the string, which may hold a token.
func ParseConnection(text string) (Connection, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Connection{}, fmt.Errorf("connection string: %w", ErrMalformed)
	}
	secure, known := secureSchemes[u.Scheme]
	switch {
	case !known:
		return Connection{}, fmt.Errorf("connection string begins with neither ys:// nor yss://: %w", ErrMalformed)
	case u.Hostname() == "":
		return Connection{}, fmt.Errorf("connection string names no host: %w", ErrMalformed)
	case u.RawQuery != "" || u.Fragment != "":
		return Connection{}, fmt.Errorf("connection string has more than a path: %w", ErrMalformed)
	}
	c := Connection{Secure: secure, Host: u.Host, Prefix: strings.TrimRight(u.Path, "/")}
	if u.User == nil {
		return c, nil
	}
	if _, has := u.User.Password(); has {
		return Connection{}, fmt.Errorf("connection string has a password (a colon in the token is written %%3A): %w", ErrMalformed)
	}
	c.Token = u.User.Username()
	return c, nil
}

// String returns the connection string, token included.
func (c Connection) String() string {
	scheme := "ys"
	if c.Secure {
		scheme = "yss"
	}
	u := url.URL{Scheme: scheme, Host: c.Host, Path: c.Prefix}
	if c.Token != "" {
		u.User = url.User(c.Token)
	}
	return u.String()
}

// BaseURL returns the address of the server's HTTP API, without a trailing slash.
func (c Connection) BaseURL() string {
	scheme := "http"
	if c.Secure {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: c.Host, Path: c.Prefix}).String()
}

// ClientToken is a server's answer to a request for access to one document.
type ClientToken struct {
	URL           string     `json:"url"`     // of the websocket, without the document's id
	BaseURL       string     `json:"baseUrl"` // of the document's HTTP API
	DocID         string     `json:"docId"`
	Token         string     `json:"token,omitempty"` // "" for an open server
	Authorization Permission `json:"authorization"`
}

// WebsocketURL returns the address that a client connects to, token included.
func (t ClientToken) WebsocketURL() string {
	u := t.URL + "/" + url.PathEscape(t.DocID)
	if t.Token != "" {
		u += "?token=" + url.QueryEscape(t.Token)
	}
	return u
}
