package control

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// renewBefore is the time before the end of a token at which another one is requested.
const renewBefore = 5 * time.Minute

// Tokens are the tokens of one folder's documents.
type Tokens struct {
	client *Client
	api    string
	relay  string
	folder string
	cache  *cache
}

var _ transport.Tokens = (*Tokens)(nil)

// Tokens returns the tokens of the documents of a folder, by the name of its document. file
// in dir keeps them, if there is a dir; it is written only while that exists.
func (c *Client) Tokens(api, document string, dir owner.Folder, file string) (*Tokens, error) {
	relay, folder, ok := transport.SplitRelay(document)
	if !ok {
		return nil, fmt.Errorf("%w: %q is not RELAY-FOLDER, two UUIDs", transport.ErrNoFolder, document)
	}
	return &Tokens{c, api, relay, folder, openCache(dir, file, c.o.Now())}, nil
}

// request is the body of a request for a token. Ids are without the relay's.
type request struct {
	DocID         string `json:"docId"`
	Relay         string `json:"relay"`
	Folder        string `json:"folder"`
	Hash          string `json:"hash,omitempty"`
	ContentType   string `json:"contentType,omitempty"`
	ContentLength *int   `json:"contentLength,omitempty"`
}

func (t *Tokens) about(name string) request {
	return request{DocID: strings.TrimPrefix(name, t.relay+"-"), Relay: t.relay, Folder: t.folder}
}

// Document implements transport.Tokens. A token that is good yet does where there is no other.
func (t *Tokens) Document(ctx context.Context, name string) (token.ClientToken, error) {
	now := t.client.o.Now()
	kept, ok := t.cache.get(name)
	if ok && kept.goodAt(now.Add(renewBefore)) {
		return kept.ClientToken, nil
	}
	answer, err := t.request(ctx, "/token", t.about(name))
	if err == nil && !isName(answer.DocID) {
		err = protocol(t.api, "a token is for no document")
	}
	if err != nil && ok && kept.goodAt(now) {
		return kept.ClientToken, nil
	}
	if err != nil {
		return token.ClientToken{}, err
	}
	t.cache.put(name, answer)
	return answer.ClientToken, nil
}

// Expired implements transport.Tokens.
func (t *Tokens) Expired(name string) { t.cache.drop(name) }

// File implements transport.Tokens.
func (t *Tokens) File(ctx context.Context, name, hash, mimetype string, size int) (token.ClientToken, error) {
	r := t.about(name)
	r.Hash, r.ContentType, r.ContentLength = hash, mimetype, &size
	answer, err := t.request(ctx, "/file-token", r)
	return answer.ClientToken, err
}

// request asks for a token and checks the answer.
func (t *Tokens) request(ctx context.Context, path string, r request) (kept, error) {
	select {
	case t.client.turns <- struct{}{}:
		defer func() { <-t.client.turns }()
	case <-ctx.Done():
		return kept{}, ctx.Err()
	}
	var answer kept
	err := t.client.authorized(ctx, t.api, http.MethodPost, func(s Service) string { return s.API + path }, r, &answer)
	if err != nil {
		return kept{}, err
	}
	if !isToken(answer.Token) {
		return kept{}, protocol(t.api, "an answer to a request for a token has none")
	}
	if !t.allowed(answer.BaseURL, "https", "http") || path == "/token" && !t.allowed(answer.URL, "wss", "ws") {
		return kept{}, protocol(t.api, "a token is for a server whose address is none, or is one without TLS")
	}
	return answer, nil
}

// allowed reports whether a token may be sent to an address: over TLS, or to this machine if
// the control plane is here, too.
func (t *Tokens) allowed(address, tls, plain string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == tls || strings.HasPrefix(t.api, "http://") && secure(u, tls, plain)
}

// isName reports whether a text may be the name of a document.
func isName(text string) bool {
	return text != "" && len(text) <= 256 && strings.Trim(text, alphanumeric+"-_") == ""
}
