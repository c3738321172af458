package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
)

// ysweet is the transport of y-sweet and relay-server: HTTP for tokens and for
// whole documents, and a socket for each document that is followed.
type ysweet struct {
	address Address
	key     *token.Key // nil: the server is asked for tokens
	folder  string     // the channel of the tokens that key makes
	client  *http.Client

	mu     sync.Mutex // protects the following
	tokens map[string]clientToken
	direct bool // the server token opens documents as well
	asked  bool // direct has been found out
}

// clientToken is a token for one document and until when it is used.
type clientToken struct {
	token.ClientToken
	until time.Time
}

const (
	// maxYSweet is how many documents have a socket at a time.
	maxYSweet = 64
	// tokenLife is how long a token is asked for, and tokenUse how long it is used:
	// a connection that outlives its token is closed by the server.
	tokenLife = time.Hour
	tokenUse  = tokenLife * 8 / 10
)

func (t *ysweet) Open(ctx context.Context, name string) (Link, error) {
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, t.client, tok.WebsocketURL(), nil)
	if errors.Is(err, ErrDenied) {
		t.forget(name)
	}
	if err != nil {
		return nil, err
	}
	return newSocketLink(s, AckEcho, tok.Token != "" && tok.Authorization == token.ReadOnly), nil
}

// token returns a token for the document that is good for a while.
func (t *ysweet) token(ctx context.Context, name string) (token.ClientToken, error) {
	t.mu.Lock()
	known, ok := t.tokens[name]
	t.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.ClientToken, nil
	}
	tok, err := t.newToken(ctx, name)
	if err != nil {
		return tok, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tokens == nil {
		t.tokens = make(map[string]clientToken)
	}
	t.tokens[name] = clientToken{tok, time.Now().Add(tokenUse)}
	return tok, nil
}

// forget drops a token that was not taken.
func (t *ysweet) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, name)
}

func (t *ysweet) newToken(ctx context.Context, name string) (token.ClientToken, error) {
	if t.key != nil {
		return t.mint(name)
	}
	claims, err := token.Inspect(t.address.Token)
	if err == nil && (claims.Scope.Kind == token.Prefix || claims.Scope.Kind == token.Doc) {
		return t.clientToken(name, t.address.Token, claims.Scope.Permission), nil // it opens documents itself
	}
	var tok token.ClientToken
	body := map[string]any{"validForSeconds": int(tokenLife.Seconds())}
	err = t.post(ctx, body, &tok, "doc", name, "auth")
	if err == nil && tok.URL == "" {
		err = fmt.Errorf("%w: it answers a request for a token without one", ErrProtocol)
	}
	return tok, err
}

// mint makes a token for the document.
func (t *ysweet) mint(name string) (token.ClientToken, error) {
	text, err := t.key.Mint(token.Claims{
		Scope:    token.Scope{Kind: token.Doc, ID: name, Permission: token.Full},
		Expires:  time.Now().Add(tokenLife),
		Audience: t.address.URL.String(), Channel: t.folder, Issuer: "relay-server", Issued: time.Now(),
	})
	return t.clientToken(name, text, token.Full), err
}

// clientToken is what the server would answer for a token that was not asked for.
func (t *ysweet) clientToken(name, text string, p token.Permission) token.ClientToken {
	base := t.address.URL.JoinPath("d", name)
	socket := *base.JoinPath("ws")
	socket.Scheme = map[string]string{"http": "ws", "https": "wss"}[base.Scheme]
	return token.ClientToken{URL: socket.String(), BaseURL: base.String(), DocID: name, Token: text, Authorization: p}
}

// Create makes a document at the server, unless it is there.
func (t *ysweet) Create(ctx context.Context, name string) error {
	if t.key != nil {
		return nil // a full token makes what it opens
	}
	return t.post(ctx, map[string]any{"docId": name}, nil, "doc", "new")
}

// post sends a request under the server token and decodes the answer. A 404 is
// ErrNoDocument.
func (t *ysweet) post(ctx context.Context, body, answer any, path ...string) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address.URL.JoinPath(path...).String(), bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	got, err := t.do(req, t.address.Token)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	return nil
}

// httpTimeout bounds one request.
const httpTimeout = 30 * time.Second

// do sends a request with a token and returns the body of a 200.
func (t *ysweet) do(req *http.Request, bearer string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(req.Context(), httpTimeout)
	defer cancel()
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := t.client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, dialError(nil, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fmt.Errorf("%w (%s)", ErrNoDocument, resp.Status)
	default:
		return nil, statusError(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFrame))
	if err != nil {
		return nil, readError(err)
	}
	return data, nil
}

// fetch reads a whole document. The server token opens it at some servers, which
// saves asking for one of its own.
func (t *ysweet) Fetch(ctx context.Context, name string) ([]byte, error) {
	t.mu.Lock()
	try := t.key == nil && (!t.asked || t.direct)
	t.mu.Unlock()
	if try {
		data, err := t.asUpdate(ctx, t.address.URL.JoinPath("d", name).String(), t.address.Token)
		if err == nil || !errors.Is(err, ErrDenied) {
			return data, err
		}
		t.mu.Lock()
		t.asked, t.direct = true, false
		t.mu.Unlock()
	}
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := t.asUpdate(ctx, tok.BaseURL, tok.Token)
	if errors.Is(err, ErrDenied) {
		t.forget(name)
	}
	return data, err
}

func (t *ysweet) asUpdate(ctx context.Context, base, bearer string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/as-update", nil)
	if err != nil {
		return nil, err
	}
	return t.do(req, bearer)
}

func (t *ysweet) Expired(name string) { t.forget(name) }
func (t *ysweet) Links() int          { return maxYSweet }
func (t *ysweet) Reports() bool       { return true }
func (t *ysweet) Close()              { t.client.CloseIdleConnections() }
