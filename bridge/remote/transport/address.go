package transport

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

type Kind uint8

const (
	// YSweet is the protocol of y-sweet and relay-server: a token and a socket for each document.
	YSweet Kind = iota
	// YWebsocket is the protocol of y-websocket: a socket for each document, which y-websocket calls a room.
	YWebsocket
	// Hocuspocus is the protocol of Hocuspocus: one socket for all documents.
	Hocuspocus
	// Relay is YSweet with a control plane, which selects the server and issues the tokens.
	Relay
)

type Address struct {
	Kind  Kind
	URL   *url.URL // http or https for YSweet and Relay (the control plane), otherwise ws or wss; without user and query
	Token string   // "" if there is no token
	// Audience is the audience of minted tokens: the url in the server's own configuration. If Audience is "", the
	// audience is URL.
	Audience string
}

var ErrAddress = errors.New("is not the address of a server")

// schemes maps the scheme of an address to the protocol and the scheme of its URL.
var schemes = map[string]struct {
	kind Kind
	url  string
}{
	"ys": {YSweet, "http"}, "yss": {YSweet, "https"},
	"ws": {YWebsocket, "ws"}, "wss": {YWebsocket, "wss"},
	"hocuspocus+ws": {Hocuspocus, "ws"}, "hocuspocus+wss": {Hocuspocus, "wss"},
	"relay+http": {Relay, "http"}, "relay+https": {Relay, "https"},
}

// ParseAddress parses an address: ys://[token@]host[:port][/prefix], yss://, ws://host/.., wss://,
// hocuspocus+ws://host/.., hocuspocus+wss:// or relay+https://host/.. (the API of a control plane). In each form, a
// percent-encoded token may precede the host. The error wraps ErrAddress. It quotes only the scheme and the port,
// because the rest may contain a token.
func ParseAddress(text string) (Address, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	s, ok := schemes[scheme]
	if !ok {
		return Address{}, fmt.Errorf("the text %w: its scheme must be ys, yss, ws, wss, hocuspocus+ws, hocuspocus+wss or relay+https", ErrAddress)
	}
	u, err := url.Parse(s.url + "://" + rest)
	if err != nil || u.Hostname() == "" {
		return Address{}, fmt.Errorf("the text after %s:// %w (%[1]s://host[:port][/path])", scheme, ErrAddress)
	}
	if _, has := u.User.Password(); has {
		return Address{}, fmt.Errorf("the text after %s:// %w: a token cannot contain %q", scheme, ErrAddress, ":")
	}
	if err := checkPort(u); err != nil {
		return Address{}, err
	}
	a := Address{Kind: s.kind, URL: u, Token: u.User.Username()}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Path = strings.TrimSuffix(u.Path, "/")
	return a, nil
}

func checkPort(u *url.URL) error {
	if u.Port() == "" {
		return nil
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return fmt.Errorf("the port %s %w: ports are 1 to 65535", u.Port(), ErrAddress)
	}
	return nil
}

func (a Address) String() string {
	for scheme, s := range schemes {
		if s.kind == a.Kind && s.url == a.URL.Scheme {
			return scheme + "://" + a.URL.Host + a.URL.Path
		}
	}
	return a.URL.Redacted()
}

const uuidLen = 36

// DocumentName returns the server's name of a document in a folder. Relay joins the UUIDs of the relay and the document
// with '-', for the folder's document too. On other servers the ID is the name.
func DocumentName(folder, id string) string {
	if relay, _, ok := SplitRelay(folder); ok && isUUID(id) {
		return relay + "-" + id
	}
	return id
}

func SplitRelay(name string) (relay, id string, ok bool) {
	if len(name) != 2*uuidLen+1 || name[uuidLen] != '-' || !isUUID(name[:uuidLen]) || !isUUID(name[uuidLen+1:]) {
		return "", "", false
	}
	return name[:uuidLen], name[uuidLen+1:], true
}

// DocumentIDs returns the possible IDs of a document with this name; see DocumentName.
func DocumentIDs(name string) []string {
	if len(name) <= uuidLen+1 {
		return []string{name}
	}
	return []string{name, name[uuidLen+1:]}
}

func isUUID(s string) bool {
	return len(s) == uuidLen && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}
