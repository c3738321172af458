package transport

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Server is a connection to the documents of a server, by their names there.
type Server interface {
	// Open connects to a document. The link lives until it is closed, ctx ends or the
	// connection fails.
	Open(ctx context.Context, name string) (Link, error)
	// Fetch returns the state of a document as one update; errors.ErrUnsupported if only
	// a link can.
	Fetch(ctx context.Context, name string) ([]byte, error)
	// Expired discards the token of a document, which the server rejected.
	Expired(name string)
	// Links is the number of documents that may be connected at a time.
	Links() int
	// Reports is set if the server may report, on the link of a folder's document, changes
	// of the other documents of the folder.
	Reports() bool
	Close()
}

// Creator is a Server on which a document may have to be created before it is opened.
type Creator interface {
	Create(ctx context.Context, name string) error
}

// Files is a Server that stores the bytes of attachments, by name and hash.
type Files interface {
	Download(ctx context.Context, name, hash string, take func(io.Reader) error) error
	Upload(ctx context.Context, name, hash, mimetype string, data []byte) error
}

// New returns the server at an address. folder is the name of the folder document, key
// mints tokens and may be nil; fetching is the number of concurrent fetches.
func New(a Address, folder string, key *token.Key, fetching int) Server {
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: fetching, IdleConnTimeout: time.Minute,
	}}
	switch a.Kind {
	case YWebsocket:
		return &rooms{address: a, client: client}
	case Hocuspocus:
		return &hocuspocus{address: a, client: client, opening: make(chan struct{}, maxOpening), named: make(map[string]*namedLink)}
	}
	return &ysweet{address: a, key: key, folder: folder, client: client, tokens: make(map[string]clientToken)}
}

// Link carries the frames of one document.
type Link interface {
	// Send queues a frame in the form of y-websocket.
	Send(frame []byte)
	// Frames returns the frames of the server, until Done.
	Frames() <-chan ysync.Frame
	// Done is closed when the link has ended, and Err is the reason.
	Done() <-chan struct{}
	Err() error
	// ReadOnly is set if the server takes no changes.
	ReadOnly() bool
	// Acks is how the server acknowledges.
	Acks() AckStyle
	Close()
}

// AckStyle is how a server acknowledges updates.
type AckStyle uint8

const (
	// AckStep2: the answer to a step 1 acknowledges everything before it.
	AckStep2 AckStyle = iota
	// AckEcho: so does an echo.
	AckEcho
	// AckStatus: a status acknowledges each update.
	AckStatus
)
