package transport

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// AckStyle is how a server acknowledges updates.
type AckStyle uint8

const (
	// AckStep2: the answer to a step 1 acknowledges everything before it.
	AckStep2 AckStyle = iota
	// AckEcho: so does an echo, if the server has them: y-sweet before 0.6.4 has none.
	AckEcho
	// AckStatus: a status acknowledges each update.
	AckStatus
)

// Link carries the frames of one document.
type Link struct {
	Acks AckStyle // of the server
	// Doubtful: the server may answer from a copy of the document that other links do not reach.
	// y-sweet 0.9.1 loads a document once for each link that comes before it is loaded, keeps the
	// last copy, and leaves the other links with theirs.
	Doubtful bool
	sock     *socket
	name     []byte // in front of each frame on a shared socket; else nil
	in       chan ysync.Frame
	viewOnly atomic.Bool
	ctx      context.Context // ends with the link; its cause is the reason
	stop     context.CancelCauseFunc
	// Of a document that shares its socket:
	authed chan struct{} // closed when the server has taken the token
	detach func()        // takes the document off the socket
}

// newLink returns the link of a document that has the socket for itself.
func newLink(s *socket, acks AckStyle, viewOnly bool) *Link {
	l := &Link{Acks: acks, sock: s, in: make(chan ysync.Frame, 16), ctx: s.ctx, stop: s.end, detach: func() {}}
	l.viewOnly.Store(viewOnly)
	go s.read(func(frame []byte) error {
		f, err := ysync.Decode(frame)
		if err == nil {
			l.deliver(f)
		}
		return err
	})
	return l
}

func (l *Link) deliver(f ysync.Frame) {
	select {
	case l.in <- f:
	case <-l.ctx.Done():
	}
}

// Send queues a frame in the form of y-websocket.
func (l *Link) Send(frame []byte) {
	if l.name != nil {
		frame = slices.Concat(l.name, frame)
	}
	l.sock.Send(frame)
}

// Frames returns the frames of the server, until Done.
func (l *Link) Frames() <-chan ysync.Frame { return l.in }

// Done is closed when the link has ended, and Err is the reason.
func (l *Link) Done() <-chan struct{} { return l.ctx.Done() }

// Err returns why the link has ended.
func (l *Link) Err() error { return context.Cause(l.ctx) }

// Heard returns when the last byte of the server came, for whichever document of the socket.
func (l *Link) Heard() time.Time { return time.Unix(0, l.sock.heard.Load()) }

// ReadOnly reports whether the server takes no changes.
func (l *Link) ReadOnly() bool { return l.viewOnly.Load() }

// Close ends the link. It does not wait for the other side.
func (l *Link) Close() {
	l.stop(context.Canceled)
	l.detach()
}
