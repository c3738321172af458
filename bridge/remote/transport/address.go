package transport

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/relayfs/relayfs/bridge/token"
)

// Kind is which protocol a server speaks.
type Kind uint8

const (
	// YSweet is y-sweet and relay-server: a token and a socket for each document.
	YSweet Kind = iota
	// YWebsocket is y-websocket: a socket for each document, its room.
	YWebsocket
	// Hocuspocus has one socket for all documents.
	Hocuspocus
)

var kindNames = [...]string{"y-sweet", "y-websocket", "Hocuspocus"}

func (k Kind) String() string { return kindNames[k] }

// Address is where a server is and what it speaks.
type Address struct {
	Kind  Kind
	URL   *url.URL // http or https for YSweet, else ws or wss; no user, no query
	Token string   // "" if there is none
}

// ErrAddress says that a text is no address of a server.
var ErrAddress = errors.New("is not the address of a server")

// schemes are the protocols by the scheme of their addresses.
var schemes = map[string]struct {
	kind Kind
	url  string
}{
	"ys": {YSweet, "http"}, "yss": {YSweet, "https"},
	"ws": {YWebsocket, "ws"}, "wss": {YWebsocket, "wss"},
	"hocuspocus+ws": {Hocuspocus, "ws"}, "hocuspocus+wss": {Hocuspocus, "wss"},
}

// ParseAddress reads ys://[token@]host[:port][/prefix], yss://, ws://host/..,
// wss://, hocuspocus+ws://host/.. or hocuspocus+wss://. A token may stand before
// the host in each of them. The error wraps ErrAddress and does not quote the
// text, which may hold a token.
func ParseAddress(text string) (Address, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	s, known := schemes[scheme]
	if !known {
		return Address{}, fmt.Errorf("the scheme %q %w: ys, yss, ws, wss, hocuspocus+ws and hocuspocus+wss are", scheme, ErrAddress)
	}
	if s.kind == YSweet {
		c, err := token.ParseConnection(text)
		if err != nil {
			return Address{}, fmt.Errorf("the text behind %s:// %w (ys://[token@]host[:port][/prefix])", scheme, ErrAddress)
		}
		u, err := url.Parse(c.BaseURL())
		return Address{s.kind, u, c.Token}, err
	}
	u, err := url.Parse(s.url + "://" + rest)
	if err != nil || u.Host == "" {
		return Address{}, fmt.Errorf("the text behind %s:// %w (%[1]s://host[:port][/path])", scheme, ErrAddress)
	}
	a := Address{Kind: s.kind, URL: u}
	if u.User != nil {
		a.Token = u.User.Username()
		if _, hasPassword := u.User.Password(); hasPassword {
			return Address{}, fmt.Errorf("the text behind %s:// %w: a token has no %q in it", scheme, ErrAddress, ":")
		}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Path = strings.TrimSuffix(u.Path, "/")
	return a, nil
}

// String is the address without the token.
func (a Address) String() string {
	for scheme, s := range schemes {
		if s.kind == a.Kind && s.url == a.URL.Scheme {
			return scheme + "://" + a.URL.Host + a.URL.Path
		}
	}
	return a.URL.Redacted()
}
