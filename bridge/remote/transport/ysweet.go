package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

// ysweet is a Server for y-sweet and relay-server. It uses HTTP for tokens and whole documents, and a socket for each
// connected document.
//
// relay-server reports changes of a document to a channel, which is the folder's document. It takes the channel from
// the token with which the document was loaded. If that token has no channel, the server reports no changes of the
// document until it unloads the document, even if the folder's document is open. Requests for a whole document
// (as-update), and tokens that the server issues for a server token, never have a channel. So Fetch does not fetch from
// a server that is known to be relay-server, and Warnings reports tokens without a channel.
type ysweet struct {
	baseServer
	guard        *guard
	key          *token.Key  // if this and controlPlane are nil, the server issues the tokens
	controlPlane Tokens      // issues the tokens if there is a control plane
	folder       string      // the channel in minted tokens
	noChannel    atomic.Bool // the last token had no channel
	direct       atomic.Bool // the server token opens documents, because the server issues no other tokens

	mu            sync.Mutex // guards the fields below
	tokens        map[string]clientToken
	needsDocToken bool // the server token does not open documents
}

type clientToken struct {
	token.ClientToken
	expires time.Time // zero if it is unknown
}

func (k clientToken) validAt(t time.Time) bool { return k.expires.IsZero() || t.Before(k.expires) }

const (
	// maxYSweet is the maximum number of open sockets.
	maxYSweet = 64
	tokenLife = time.Hour // lifetime of a requested or minted token
	// renewBefore is the time before its end at which a token is no longer used for new connections, because the server
	// closes connections when their token expires.
	renewBefore = 5 * time.Minute
)

func (t *ysweet) Open(ctx context.Context, name string) (*Link, error) {
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := t.dial(ctx, tok)
	if errors.Is(err, ErrDenied) {
		t.direct.Store(false) // the server may issue tokens again
		err = t.denied(name, err)
	}
	return l, err
}

func (t *ysweet) dial(ctx context.Context, tok token.ClientToken) (*Link, error) {
	s, err := dial(ctx, t.client, tok.WebsocketURL(), nil)
	reads := tok.Authorization == token.ReadOnly
	switch {
	case errors.Is(err, status(http.StatusNotFound)) && reads: // a token that permits changes creates documents
		return nil, errNotFound
	case err != nil:
		return nil, t.explained(err, tok.Token)
	}
	l := newLink(s, reads && tok.Token != "")
	l.MaybeStale = true
	return l, nil
}

var errNotFound = fmt.Errorf("%w (%w)", ErrNoDocument, status(http.StatusNotFound))

// explained adds the reason for a refused request to err, if the token's claims show the reason.
func (t *ysweet) explained(err error, bearer string) error {
	if !errors.Is(err, ErrDenied) {
		return err
	}
	claims, _ := token.Inspect(bearer) // malformed tokens have no audience
	switch {
	case t.key != nil && claims.Audience != "":
		return fmt.Errorf("%w; %w, %q", err, ErrAudience, claims.Audience)
	case t.guard.relay.Load() && t.controlPlane == nil && claims.KeyID != "" && claims.Audience == "":
		return fmt.Errorf("%w; %w", err, ErrKeyID)
	case t.asks() && t.direct.Load() && isCBORServer(claims):
		return fmt.Errorf("%w; %w", err, ErrServerToken)
	}
	return err
}

// isCBORServer reports whether claims are those of a server token in CBOR. Other server tokens have no audience.
func isCBORServer(c token.Claims) bool { return c.Scope.Kind == token.Server && c.Audience != "" }

// Examine implements Examiner. A read-only token creates no document, and a control plane only issues tokens for
// existing documents.
func (t *ysweet) Examine(ctx context.Context, name string) (l *Link, full bool, err error) {
	if t.controlPlane != nil {
		l, err = t.Open(ctx, name)
		return l, err == nil && !l.ReadOnly(), err
	}
	tok, err := t.newToken(ctx, name, token.ReadOnly)
	if err != nil {
		return nil, false, err
	}
	given := t.key == nil && tok.Token != "" && tok.Token == t.address.Token
	if given && tok.Authorization == token.Full {
		return nil, true, t.accepted(ctx, tok)
	}
	l, err = t.dial(ctx, tok)
	if errors.Is(err, ErrNoDocument) {
		// A server of another kind may give the same answer.
		if _, other := t.do(ctx, http.MethodGet, t.address.URL.JoinPath("ready").String(), "", nil); other != nil {
			err = fmt.Errorf("%w (%w)", ErrProtocol, status(http.StatusNotFound))
		}
	}
	return l, !given, err
}

// accepted sends another request with the token. It returns the error if the server refuses the token or cannot be
// reached, and otherwise ErrWouldCreate, or ErrUntried if no request could check the token.
func (t *ysweet) accepted(ctx context.Context, tok token.ClientToken) error {
	// relay-server has this page and loads no document for it; y-sweet does not have it.
	_, err := t.do(ctx, http.MethodGet, tok.BaseURL+"/versions", tok.Token, nil)
	if errors.Is(err, ErrDenied) && t.guard.relay.Load() {
		return t.acceptedBySocket(ctx, tok)
	}
	if errors.Is(err, ErrDenied) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrUnsafeRedirect) {
		return err
	}
	return ErrWouldCreate
}

// acceptedBySocket tries the token on a websocket of relay-server. relay-server refuses types of tokens over HTTP that
// its websockets accept. If a valid token does not cover a document, the server answers "forbidden" and creates
// nothing.
func (t *ysweet) acceptedBySocket(ctx context.Context, tok token.ClientToken) error {
	claims, malformed := token.Inspect(tok.Token)
	if malformed != nil || claims.KeyID != "" && claims.Audience == "" || isCBORServer(claims) {
		return t.explained(fmt.Errorf("%w (%w)", ErrDenied, status(http.StatusUnauthorized)), tok.Token)
	}
	if _, covered := claims.OnDoc(tok.DocID); !covered {
		l, err := t.dial(ctx, tok)
		if err != nil {
			return err
		}
		l.Close() // the server has accepted the token nevertheless
		return ErrWouldCreate
	}
	for _, name := range []string{"relayfs", "-relayfs"} {
		if _, covered := claims.OnDoc(name); covered {
			continue
		}
		l, err := t.dial(ctx, t.clientToken(name, tok.Token, token.Full))
		switch {
		case err == nil:
			l.Close()
		case !errors.Is(err, status(http.StatusForbidden)):
			return err
		}
		return ErrWouldCreate
	}
	return ErrUntried
}

func (t *ysweet) Warnings() error {
	if t.guard.relay.Load() && t.noChannel.Load() {
		return ErrNoChannel
	}
	return nil
}

// token returns a valid token for the document. It requests a new token only if the cached one may expire soon, and
// returns the cached one if that fails.
func (t *ysweet) token(ctx context.Context, name string) (token.ClientToken, error) {
	now := time.Now()
	t.mu.Lock()
	cached, ok := t.tokens[name]
	t.mu.Unlock()
	if ok && cached.validAt(now.Add(renewBefore)) {
		return cached.ClientToken, nil
	}
	var tok token.ClientToken
	var err error
	expires := now.Add(tokenLife)
	if t.controlPlane != nil {
		tok, expires, err = t.controlPlane.Document(ctx, name)
	} else {
		tok, err = t.newToken(ctx, name, token.Full)
	}
	switch {
	case err != nil && ok && cached.validAt(now):
		return cached.ClientToken, nil
	case err != nil:
		return tok, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[name] = clientToken{tok, expires}
	return tok, nil
}

func (t *ysweet) asks() bool { return t.key == nil && t.controlPlane == nil }

func (t *ysweet) denied(name string, err error) error {
	t.DiscardToken(name)
	if t.controlPlane != nil {
		return fmt.Errorf("%w: %v", ErrNotShared, err)
	}
	return err
}

func (t *ysweet) DiscardToken(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tokens, name)
}

// newToken returns a token with the permission p. If the token of the address opens documents directly, newToken
// returns that token, whose permission may differ.
func (t *ysweet) newToken(ctx context.Context, name string, p token.Permission) (tok token.ClientToken, err error) {
	claims, invalid := token.Inspect(t.address.Token)
	switch kind := claims.Scope.Kind; {
	case t.key != nil:
		var text string
		text, err = t.mint(token.Scope{Kind: token.Doc, ID: name, Permission: p})
		tok = t.clientToken(name, text, p)
	case invalid == nil && (kind == token.Prefix || kind == token.Doc):
		tok = t.clientToken(name, t.address.Token, claims.Scope.Permission)
	default:
		tok, err = t.serversToken(ctx, name, p)
	}
	claims, _ = token.Inspect(tok.Token)
	t.noChannel.Store(tok.Token != "" && claims.Channel == "")
	return tok, err
}

// serversToken returns a token that the server issues for the server token, or the server token itself, which has full
// permission. relay-server issues no token if the key's allowed_token_types lacks "server", or if the key is for CBOR
// tokens. Its websockets accept the server token in both cases.
func (t *ysweet) serversToken(ctx context.Context, name string, p token.Permission) (tok token.ClientToken, err error) {
	if !t.direct.Load() {
		tok, err = t.requestedToken(ctx, name, p)
		if !t.guard.relay.Load() || !errors.Is(err, ErrDenied) && !errors.Is(err, ErrFailed) {
			return tok, err
		}
		t.direct.Store(true)
	}
	return t.clientToken(name, t.address.Token, token.Full), nil
}

func (t *ysweet) requestedToken(ctx context.Context, name string, p token.Permission) (tok token.ClientToken, err error) {
	body := map[string]any{"validForSeconds": int(tokenLife.Seconds()), "authorization": p}
	if err := t.post(ctx, body, &tok, "doc", name, "auth"); err != nil {
		return tok, err
	}
	for _, text := range []string{tok.URL, cmp.Or(tok.BaseURL, tok.URL)} {
		to, err := url.Parse(text)
		switch {
		case err != nil || to.Host == "":
			return tok, fmt.Errorf("%w: the answer to a request for a token has no address", ErrProtocol)
		case t.guard.secure && !strings.EqualFold(to.Hostname(), t.address.URL.Hostname()):
			return tok, fmt.Errorf("%w: it names %s", ErrUnsafeRedirect, Said(to.Host))
		}
	}
	return tok, nil
}

func (t *ysweet) mint(scope token.Scope) (string, error) {
	return t.key.Mint(token.Claims{
		Scope: scope, Expires: time.Now().Add(tokenLife),
		Audience: cmp.Or(t.address.Audience, t.address.URL.String()), Channel: t.folder, Issued: time.Now(),
	})
}

// clientToken returns a client token with the given text, like the client tokens that the server issues.
func (t *ysweet) clientToken(name, text string, p token.Permission) token.ClientToken {
	return token.NewClientToken(t.address.URL.JoinPath("d", name).String(), name, text, p)
}

func (t *ysweet) Create(ctx context.Context, name string) error {
	if !t.asks() || t.direct.Load() {
		return nil // a token with full permission creates the documents that it opens
	}
	err := t.post(ctx, map[string]any{"docId": name}, nil, "doc", "new")
	if t.guard.relay.Load() && (errors.Is(err, ErrDenied) || errors.Is(err, ErrFailed)) {
		t.direct.Store(true)
		return nil
	}
	return err
}

// post sends a request with the server token and decodes the answer.
func (t *ysweet) post(ctx context.Context, body, answer any, path ...string) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	got, err := t.do(ctx, http.MethodPost, t.address.URL.JoinPath(path...).String(), t.address.Token, data)
	if err != nil || answer == nil {
		return err
	}
	if json.Unmarshal(got, answer) != nil { // the error may quote a part of the answer of any length
		return fmt.Errorf("%w: an answer is not the expected JSON", ErrProtocol)
	}
	return nil
}

const httpTimeout = 30 * time.Second

func NewRequest(ctx context.Context, method, to, bearer string, body []byte) (*http.Request, error) {
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
	return req, nil
}

// do sends a request with a token and an optional JSON body, and returns the answer's body.
func (t *ysweet) do(ctx context.Context, method, to, bearer string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	req, err := NewRequest(ctx, method, to, bearer, body)
	if err != nil {
		return nil, err
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return nil, ConnectionError(err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, errNotFound
	default:
		return nil, t.explained(statusError(resp), bearer)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFrame))
	if err != nil {
		return nil, ConnectionError(err)
	}
	return data, nil
}

// Fetch implements Server. It first tries the server token, which some servers accept and which saves a request.
func (t *ysweet) Fetch(ctx context.Context, name string) ([]byte, error) {
	if t.guard.relay.Load() {
		return nil, errors.ErrUnsupported // see ysweet
	}
	t.mu.Lock()
	try := t.asks() && !t.needsDocToken
	t.mu.Unlock()
	if try {
		data, err := t.asUpdate(ctx, t.address.URL.JoinPath("d", name).String(), t.address.Token)
		if err == nil || !errors.Is(err, ErrDenied) {
			return data, err
		}
		t.mu.Lock()
		t.needsDocToken = true
		t.mu.Unlock()
	}
	tok, err := t.token(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := t.asUpdate(ctx, tok.BaseURL, tok.Token)
	if errors.Is(err, ErrDenied) {
		err = t.denied(name, err)
	}
	return data, err
}

func (t *ysweet) asUpdate(ctx context.Context, base, bearer string) ([]byte, error) {
	return t.do(ctx, http.MethodGet, base+"/as-update", bearer, nil)
}

func (t *ysweet) Reports() bool { return t.guard.relay.Load() }
