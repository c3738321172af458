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

// ysweet is a Server of y-sweet or relay-server: HTTP for tokens and for whole documents,
// and a socket for each connected document.
type ysweet struct {
	plain
	key    *token.Key // nil: the server is asked for tokens
	folder string     // the channel in minted tokens

	mu       sync.Mutex // protects the following
	tokens   map[string]clientToken
	indirect bool // the server token opens no documents
}

// clientToken is a token for one document and the end of its use.
type clientToken struct {
	token.ClientToken
	until time.Time
}

const (
	// maxYSweet is the number of sockets.
	maxYSweet = 64
	// tokenLife is the life of a requested token, and tokenUse the time of its use: the
	// server closes connections whose token expires.
	tokenLife = time.Hour
	tokenUse  = tokenLife * 8 / 10
)

func (t *ysweet) Open(ctx context.Context, name string) (*Link, error) {
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, t.client, tok.WebsocketURL(), nil)
	if errors.Is(err, ErrDenied) {
		t.Expired(name)
	}
	if err != nil {
		return nil, err
	}
	return newLink(s, AckEcho, tok.Token != "" && tok.Authorization == token.ReadOnly), nil
}

// token returns a token for the document that is valid for some time yet.
func (t *ysweet) token(ctx context.Context, name string) (token.ClientToken, error) {
	t.mu.Lock()
	cached, ok := t.tokens[name]
	t.mu.Unlock()
	if ok && time.Now().Before(cached.until) {
		return cached.ClientToken, nil
	}
	tok, err := t.newToken(ctx, name)
	if err != nil {
		return tok, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[name] = clientToken{tok, time.Now().Add(tokenUse)}
	return tok, nil
}

// Expired implements Server.
func (t *ysweet) Expired(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, name)
}

func (t *ysweet) newToken(ctx context.Context, name string) (token.ClientToken, error) {
	if t.key != nil {
		text, err := t.mint(token.Scope{Kind: token.Doc, ID: name, Permission: token.Full})
		return t.clientToken(name, text, token.Full), err
	}
	claims, err := token.Inspect(t.address.Token)
	if err == nil && (claims.Scope.Kind == token.Prefix || claims.Scope.Kind == token.Doc) {
		return t.clientToken(name, t.address.Token, claims.Scope.Permission), nil // the token itself opens documents
	}
	var tok token.ClientToken
	body := map[string]any{"validForSeconds": int(tokenLife.Seconds())}
	err = t.post(ctx, body, &tok, "doc", name, "auth")
	if err == nil && tok.URL == "" {
		err = fmt.Errorf("%w: the answer to a request for a token has none", ErrProtocol)
	}
	return tok, err
}

func (t *ysweet) mint(scope token.Scope) (string, error) {
	return t.key.Mint(token.Claims{
		Scope: scope, Expires: time.Now().Add(tokenLife),
		Audience: t.address.URL.String(), Channel: t.folder, Issued: time.Now(),
	})
}

// clientToken returns the server's answer for a token that was not requested.
func (t *ysweet) clientToken(name, text string, p token.Permission) token.ClientToken {
	return token.NewClientToken(t.address.URL.JoinPath("d", name).String(), name, text, p)
}

// Create creates a document at the server, unless it exists.
func (t *ysweet) Create(ctx context.Context, name string) error {
	if t.key != nil {
		return nil // a full token creates what it opens
	}
	return t.post(ctx, map[string]any{"docId": name}, nil, "doc", "new")
}

// post sends a request with the server token and decodes the answer. A 404 is
// ErrNoDocument.
func (t *ysweet) post(ctx context.Context, body, answer any, path ...string) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	got, err := t.do(ctx, http.MethodPost, t.address.URL.JoinPath(path...).String(), t.address.Token, data)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	return nil
}

const httpTimeout = 30 * time.Second

// do sends a request with a token and a JSON body, if any, and returns the answer's body.
func (t *ysweet) do(ctx context.Context, method, to, bearer string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, connectionError(err)
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
		return nil, connectionError(err)
	}
	return data, nil
}

// Fetch implements Server. Some servers accept the server token, which saves a request.
func (t *ysweet) Fetch(ctx context.Context, name string) ([]byte, error) {
	t.mu.Lock()
	try := t.key == nil && !t.indirect
	t.mu.Unlock()
	if try {
		data, err := t.asUpdate(ctx, t.address.URL.JoinPath("d", name).String(), t.address.Token)
		if err == nil || !errors.Is(err, ErrDenied) {
			return data, err
		}
		t.mu.Lock()
		t.indirect = true
		t.mu.Unlock()
	}
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := t.asUpdate(ctx, tok.BaseURL, tok.Token)
	if errors.Is(err, ErrDenied) {
		t.Expired(name)
	}
	return data, err
}

func (t *ysweet) asUpdate(ctx context.Context, base, bearer string) ([]byte, error) {
	return t.do(ctx, http.MethodGet, base+"/as-update", bearer, nil)
}

// Reports implements Server.
func (t *ysweet) Reports() bool { return true }
