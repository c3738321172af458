package transport

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Server reaches the documents of a server by their names there.
type Server interface {
	// Open connects to a document. The link lives until it is closed, ctx ends or
	// the connection does.
	Open(ctx context.Context, name string) (Link, error)
	// Fetch returns the state of a document as one update; errors.ErrUnsupported
	// if that takes a link.
	Fetch(ctx context.Context, name string) ([]byte, error)
	// Expired says that the server does not take the document's token any more.
	Expired(name string)
	// Links is how many documents may be connected at a time.
	Links() int
	// Reports says that the server may tell, on the link of a folder's document, which
	// of the folder's other documents have changed.
	Reports() bool
	Close()
}

// Creator is a Server that may have to be told of a document before it is opened.
type Creator interface {
	Create(ctx context.Context, name string) error
}

// Files is a Server that keeps the bytes of attachments.
type Files interface {
	Download(ctx context.Context, name, hash string, take func(io.Reader) error) error
	Upload(ctx context.Context, name, hash, mimetype string, data []byte) error
}

// New is the server at an address. folder is the name of the folder document, key makes
// tokens and may be nil; fetching is how many documents will be fetched at a time.
func New(a Address, folder string, key *token.Key, fetching int) Server {
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: fetching, IdleConnTimeout: time.Minute,
	}}
	switch a.Kind {
	case YWebsocket:
		return &rooms{address: a, client: client}
	case Hocuspocus:
		return newHocuspocus(a, client)
	}
	return &ysweet{address: a, key: key, folder: folder, client: client}
}

// Link carries the frames of one document.
type Link interface {
	// Send queues a frame in the form of y-websocket.
	Send(frame []byte)
	// Frames are what the server says, until Done.
	Frames() <-chan ysync.Frame
	// Done is closed when the link has ended, and Err says why.
	Done() <-chan struct{}
	Err() error
	// ReadOnly says that the server takes no changes.
	ReadOnly() bool
	// Acks is how the server acknowledges.
	Acks() AckStyle
	Close()
}

// AckStyle is how a server tells what it has taken over.
type AckStyle uint8

const (
	// AckStep2: a step 1 is answered after everything that came before it.
	AckStep2 AckStyle = iota
	// AckEcho: so is an echo.
	AckEcho
	// AckStatus: each update is answered by a status.
	AckStatus
)
