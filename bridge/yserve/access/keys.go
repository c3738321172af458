package access

import (
	"net/http"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/token"
)

// keys are what tokens are checked and made with.
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

// New lets in who has a token that ring has a key for, or everybody from this machine if
// ring is empty. url is the audience that a token has to name, unless it is "". known is
// called for requests with a valid token.
func New(ring token.Ring, mint *token.Key, url string, known func(*http.Request)) *Access {
	a := &Access{url: url, known: known}
	a.keys.Store(&keys{ring, mint})
	return a
}

// SetKeys puts other keys in the place of those that there are; ok is false if there are
// none, or no others: who was let in without a token has none.
func (a *Access) SetKeys(ring token.Ring, mint *token.Key) (ok bool) {
	if a.Open() || len(ring) == 0 {
		return false
	}
	a.keys.Store(&keys{ring, mint})
	return true
}

// Mint is the key that tokens are made with, nil if there is none.
func (a *Access) Mint() *token.Key { return a.keys.Load().mint }

// Known takes note of a request with a token that came by another way, and is valid.
func (a *Access) Known(r *http.Request) { a.known(r) }
