package remote

import (
	"context"

	"github.com/relayfs/relayfs/bridge/ysync"
)

// transport reaches the documents of a server by their names there.
type transport interface {
	// open connects to a document. The link lives until it is closed, ctx ends or
	// the connection does.
	open(ctx context.Context, name string) (link, error)
	// fetch returns the state of a document as one update; errors.ErrUnsupported
	// if that takes a link.
	fetch(ctx context.Context, name string) ([]byte, error)
	// expired says that the server does not take the document's token any more.
	expired(name string)
	// links is how many documents may be connected at a time.
	links() int
	close()
}

// link carries the frames of one document.
type link interface {
	// send queues a frame in the form of y-websocket.
	send(frame []byte)
	// frames are what the server says, until done.
	frames() <-chan ysync.Frame
	// done is closed when the link has ended, and err says why.
	done() <-chan struct{}
	err() error
	// readOnly says that the server takes no changes.
	readOnly() bool
	// acks is how the server acknowledges.
	acks() ackStyle
	close()
}

// ackStyle is how a server tells what it has taken over.
type ackStyle uint8

const (
	// ackStep2: a step 1 is answered after everything that came before it.
	ackStep2 ackStyle = iota
	// ackEcho: so is an echo.
	ackEcho
	// ackStatus: each update is answered by a status.
	ackStatus
)
