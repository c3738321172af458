package control

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

type Tokens struct {
	client *Client
	api    string
	relay  string
	folder string
}

// expiring is a token in the format of the service's answers.
type expiring struct {
	token.ClientToken
	ExpiryTime int64 `json:"expiryTime"` // Unix milliseconds; 0 if unknown
}

var _ transport.Tokens = (*Tokens)(nil)

// Tokens returns the tokens for the documents of a folder. document is the name of the folder's document.
func (c *Client) Tokens(api, document string) (*Tokens, error) {
	relay, folder, ok := transport.SplitRelay(document)
	if !ok {
		return nil, fmt.Errorf("%w: %q is not of the form RELAY-FOLDER (two UUIDs)", transport.ErrNoFolder, document)
	}
	return &Tokens{client: c, api: api, relay: relay, folder: folder}, nil
}

// request is the body of a token request. DocID does not have the relay's ID as a prefix.
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

func (t *Tokens) Document(ctx context.Context, name string) (token.ClientToken, time.Time, error) {
	answer, err := t.request(ctx, "/token", t.about(name))
	if err == nil && !isName(answer.DocID) {
		err = protocol(t.api, "a token has no document name")
	}
	var expires time.Time
	if answer.ExpiryTime != 0 {
		expires = time.UnixMilli(answer.ExpiryTime)
	}
	return answer.ClientToken, expires, err
}

func (t *Tokens) File(ctx context.Context, name, hash, mimetype string, size int) (token.ClientToken, error) {
	r := t.about(name)
	r.Hash, r.ContentType, r.ContentLength = hash, mimetype, &size
	answer, err := t.request(ctx, "/file-token", r)
	return answer.ClientToken, err
}

func (t *Tokens) request(ctx context.Context, path string, r request) (expiring, error) {
	select {
	case t.client.tokenSem <- struct{}{}:
		defer func() { <-t.client.tokenSem }()
	case <-ctx.Done():
		return expiring{}, ctx.Err()
	}
	var answer expiring
	err := t.client.authorized(ctx, t.api, http.MethodPost, func(s Service) string { return s.API + path }, r, &answer)
	if err != nil {
		return expiring{}, err
	}
	if !isToken(answer.Token) {
		return expiring{}, protocol(t.api, "the answer to a token request has no token")
	}
	if !t.allowed(answer.BaseURL, "https", "http") || path == "/token" && !t.allowed(answer.URL, "wss", "ws") {
		return expiring{}, protocol(t.api, "a token has an invalid server address, or one without TLS")
	}
	return answer, nil
}

// allowed reports whether a token may be sent to an address. The address must use TLS, or both the address and the
// control plane must be on this machine.
func (t *Tokens) allowed(address, tls, plain string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == tls || strings.HasPrefix(t.api, "http://") && secure(u, tls, plain)
}

func isName(text string) bool {
	return text != "" && len(text) <= 256 && strings.Trim(text, alphanumeric+"-_") == ""
}
