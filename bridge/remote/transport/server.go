package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

// Server is a connection to the documents of a server, by their names there.
type Server interface {
	// Open connects to a document. The link lives until Close, or the end of ctx.
	Open(ctx context.Context, name string) (*Link, error)
	// Fetch returns the whole document; errors.ErrUnsupported if only a link can, or should.
	Fetch(ctx context.Context, name string) ([]byte, error)
	// Expired discards the token of a document, which the server rejected.
	Expired(name string)
	// Links is the number of documents that may be connected at a time.
	Links() int
	// Reports is set if the server may report, on the link of a folder's document, changes
	// of the other documents of the folder.
	Reports() bool
	// Costs returns what the present use of the server costs its other clients, nil for
	// nothing that is known; Hint returns what to do.
	Costs() error
	Close()
}

// Creator is a Server on which a document may have to be created before it is opened.
type Creator interface {
	Create(ctx context.Context, name string) error
}

// Files is a Server that stores the bytes of attachments, by name and hash.
type Files interface {
	Download(ctx context.Context, name, hash, mimetype string, take func(io.Reader) error) error
	Upload(ctx context.Context, name, hash, mimetype string, data []byte) error
}

// Examiner is a Server on which Open may create a document.
type Examiner interface {
	// Examine opens a link for reading to a document, which it does not create:
	// ErrNoDocument, or ErrWouldCreate if that cannot be avoided. full is set if Open
	// permits changes.
	Examine(ctx context.Context, name string) (l *Link, full bool, err error)
}

// Tokens are the tokens that a control plane makes, and the addresses of the server that
// takes them.
type Tokens interface {
	// Document returns a token for a document that is valid for some time yet.
	Document(ctx context.Context, name string) (token.ClientToken, error)
	// Expired discards the token of a document, which the server rejected.
	Expired(name string)
	// File returns a token for the bytes of an attachment. size may be 0 for a download.
	File(ctx context.Context, name, hash, mimetype string, size int) (token.ClientToken, error)
}

// New returns the server at an address. folder is the name of the folder document, key
// mints tokens and may be nil, tokens are those of a Relay; fetching is the number of
// concurrent fetches.
func New(a Address, folder string, key *token.Key, tokens Tokens, fetching int) Server {
	g := &guard{secure: a.URL.Scheme == "https" || a.URL.Scheme == "wss", RoundTripper: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: fetching, IdleConnTimeout: time.Minute,
	}}
	client := &http.Client{Transport: g, CheckRedirect: checkRedirect}
	switch a.Kind {
	case YWebsocket:
		return &rooms{plain{a, client, maxRooms}}
	case Hocuspocus:
		return &hocuspocus{plain: plain{a, client, maxNamed}, opening: make(chan struct{}, maxOpening), named: make(map[string]*Link)}
	}
	return &ysweet{plain: plain{a, client, maxYSweet}, guard: g, key: key, plane: tokens, folder: folder, tokens: make(map[string]clientToken)}
}

// plain is a Server, but for Open, of which a link is all that there is.
type plain struct {
	address Address
	client  *http.Client
	links   int
}

func (t *plain) Fetch(context.Context, string) ([]byte, error) { return nil, errors.ErrUnsupported }
func (t *plain) Expired(string)                                {} // there is no other token
func (t *plain) Links() int                                    { return t.links }
func (t *plain) Reports() bool                                 { return false }
func (t *plain) Costs() error                                  { return nil }
func (t *plain) Close()                                        { t.client.CloseIdleConnections() }
