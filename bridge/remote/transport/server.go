package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

// Server connects to the documents of a server by their names on that server.
type Server interface {
	// Open connects to a document. The link ends with Close or ctx.
	Open(ctx context.Context, name string) (*Link, error)
	// Fetch returns the whole document. If the caller must use a link instead, the error is errors.ErrUnsupported.
	Fetch(ctx context.Context, name string) ([]byte, error)
	// DiscardToken removes the cached token of a document, because the server has rejected that token.
	DiscardToken(name string)
	// Links returns the maximum number of connected documents.
	Links() int
	// Reports reports whether the server reports changes of a folder's documents on the link of the folder's document. It
	// is known once a link is open.
	Reports() bool
	// Warnings returns the known disadvantages that the current use of the server has for its other clients, or nil if
	// there are none. Hint returns the next step.
	Warnings() error
	Close()
}

// Creator is a Server on which some documents must be created before they are opened.
type Creator interface {
	Create(ctx context.Context, name string) error
}

// Files is a Server that may store the bytes of attachments, by name and hash.
type Files interface {
	// StoresFiles returns false if the server's answers have shown that it stores no files.
	StoresFiles() bool
	Download(ctx context.Context, name, hash, mimetype string, take func(io.Reader) error) error
	Upload(ctx context.Context, name, hash, mimetype string, data []byte) error
}

// Examiner is a Server whose Open may create a document.
type Examiner interface {
	// Examine opens a link to a document without creating the document. Errors: ErrNoDocument, or ErrWouldCreate or
	// ErrUntried if only creating the document would show whether it exists. full is set if Open permits changes.
	Examine(ctx context.Context, name string) (l *Link, full bool, err error)
}

// Tokens provides the tokens of a control plane, and the addresses of the servers that accept them.
type Tokens interface {
	// Document returns a token for a document, and the time when the token expires, which is zero if it is unknown.
	Document(ctx context.Context, name string) (token.ClientToken, time.Time, error)
	// File returns a token for the bytes of an attachment. size may be 0 for a download.
	File(ctx context.Context, name, hash, mimetype string, size int) (token.ClientToken, error)
}

// New returns the server at an address. folder is the name of the folder's document. key mints tokens and may be nil.
// tokens has the tokens for a Relay address. fetching is the number of concurrent fetches.
func New(a Address, folder string, key *token.Key, tokens Tokens, fetching int) Server {
	g := &guard{
		secure: a.URL.Scheme == "https" || a.URL.Scheme == "wss", frames: a.Kind == Hocuspocus && a.Token != "",
		RoundTripper: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: fetching, IdleConnTimeout: time.Minute,
		},
	}
	client := &http.Client{Transport: g, CheckRedirect: g.checkRedirect}
	switch a.Kind {
	case YWebsocket:
		return &yWebsocket{baseServer{a, client, maxRooms}}
	case Hocuspocus:
		return &hocuspocus{baseServer: baseServer{a, client, maxNamed}, opening: make(chan struct{}, maxOpening), named: make(map[string]*Link)}
	}
	return &ysweet{baseServer: baseServer{a, client, maxYSweet}, guard: g, key: key, controlPlane: tokens, folder: folder, tokens: make(map[string]clientToken)}
}

// baseServer implements all methods of Server except Open, for servers that only have links.
type baseServer struct {
	address Address
	client  *http.Client
	links   int
}

func (t *baseServer) Fetch(context.Context, string) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
func (t *baseServer) DiscardToken(string) {} // there is no other token to use
func (t *baseServer) Links() int          { return t.links }
func (t *baseServer) Reports() bool       { return false }
func (t *baseServer) Warnings() error     { return nil }
func (t *baseServer) Close()              { t.client.CloseIdleConnections() }
