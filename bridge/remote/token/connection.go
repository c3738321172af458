package token

import (
	"fmt"
	"net/url"
	"strings"
)

// Connection is the address of a server, with its server token.
type Connection struct {
	BaseURL string // of the HTTP API, without a trailing slash
	Token   string // server token, "" for an open server
}

// apiSchemes has the scheme of the HTTP API by that of a connection string.
var apiSchemes = map[string]string{"ys": "http", "yss": "https", "http": "http", "https": "https"}

// ParseConnection parses a connection string: ys://[token@]host[:port][/prefix], or
// yss:// for TLS; http:// and https:// mean the same. The token is percent-decoded. The
// error wraps ErrMalformed and does not quote the string, which may hold a token.
func ParseConnection(text string) (Connection, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Connection{}, fmt.Errorf("connection string: %w", ErrMalformed)
	}
	scheme, known := apiSchemes[u.Scheme]
	switch {
	case !known:
		return Connection{}, fmt.Errorf("connection string begins with neither ys:// nor yss://: %w", ErrMalformed)
	case u.Hostname() == "":
		return Connection{}, fmt.Errorf("connection string names no host: %w", ErrMalformed)
	case u.RawQuery != "" || u.Fragment != "":
		return Connection{}, fmt.Errorf("connection string has more than a path: %w", ErrMalformed)
	}
	if _, has := u.User.Password(); has {
		return Connection{}, fmt.Errorf("connection string has a password (a colon in the token is written %%3A): %w", ErrMalformed)
	}
	base := url.URL{Scheme: scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	return Connection{base.String(), u.User.Username()}, nil
}

// String returns the connection string, token included.
func (c Connection) String() string {
	scheme, rest, _ := strings.Cut(c.BaseURL, "://")
	if c.Token != "" {
		rest = url.User(c.Token).String() + "@" + rest
	}
	return strings.Replace(scheme, "http", "ys", 1) + "://" + rest
}

// ClientToken is a server's answer to a request for access to one document.
type ClientToken struct {
	URL           string     `json:"url"`     // of the websocket, without the document's id
	BaseURL       string     `json:"baseUrl"` // of the document's HTTP API
	DocID         string     `json:"docId"`
	Token         string     `json:"token,omitempty"` // "" for an open server
	Authorization Permission `json:"authorization"`
}

// NewClientToken returns the answer for a document with the given HTTP API.
func NewClientToken(base, id, text string, p Permission) ClientToken {
	socket := "ws" + strings.TrimPrefix(base, "http") + "/ws" // wss for https
	return ClientToken{URL: socket, BaseURL: base, DocID: id, Token: text, Authorization: p}
}

// WebsocketURL returns the address that a client connects to, token included.
func (t ClientToken) WebsocketURL() string {
	u := t.URL + "/" + url.PathEscape(t.DocID)
	if t.Token != "" {
		u += "?token=" + url.QueryEscape(t.Token)
	}
	return u
}
