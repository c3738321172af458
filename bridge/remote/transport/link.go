package transport

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

type Link struct {
	// Statuses is set if the server acknowledges each update with a status. Otherwise its answer to a step 1 acknowledges
	// everything before that step 1.
	Statuses bool
	// MaybeStale is set if the server may answer from a copy of the document that other links do not use. y-sweet 0.9.1
	// loads a document once for each link that is opened before the document is loaded. It keeps the last copy, and the
	// other links continue to use their own copies.
	MaybeStale bool
	sock       *socket
	name       []byte // prefix of each frame on a shared socket; otherwise nil
	in         chan ysync.Frame
	viewOnly   atomic.Bool
	ctx        context.Context // ends with the link; its cause is the reason why the link ended
	stop       context.CancelCauseFunc
	// The fields below are only set for a document on a shared socket.
	authed chan struct{} // closed when the server has accepted the token
	closed chan struct{} // closed when the server has closed the document, or the socket has ended
	detach func()        // asks the server to close the document
}

func newLink(s *socket, viewOnly bool) *Link {
	l := &Link{sock: s, in: make(chan ysync.Frame, 16), ctx: s.ctx, stop: s.end, detach: func() {}}
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

// Send queues a frame, which must be in y-websocket's form.
func (l *Link) Send(frame []byte) {
	if l.name != nil {
		frame = slices.Concat(l.name, frame)
	}
	l.sock.Send(frame)
}

// Frames returns the frames that the server sends until Done is closed.
func (l *Link) Frames() <-chan ysync.Frame { return l.in }

// Done is closed when the link has ended; Err returns the reason.
func (l *Link) Done() <-chan struct{} { return l.ctx.Done() }

func (l *Link) Err() error { return context.Cause(l.ctx) }

// Heard returns the time when the last byte from the server arrived on the socket, for any document.
func (l *Link) Heard() time.Time {
	if t := l.sock.heard.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

func (l *Link) ReadOnly() bool { return l.viewOnly.Load() }

func (l *Link) Close() {
	l.stop(context.Canceled)
	l.detach()
}
