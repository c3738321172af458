package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ysync"
)

// hocuspocus is a Server of Hocuspocus: all documents share one socket, and each is
// authenticated by itself.
type hocuspocus struct {
	address Address
	client  *http.Client

	opening chan struct{} // a semaphore: the server limits unauthenticated documents

	mu    sync.Mutex // protects the following
	sock  *socket
	named map[string]*namedLink
}

const (
	// maxNamed is the number of documents on the socket.
	maxNamed = 1000
	// maxOpening is the number of documents that are being authenticated.
	maxOpening = 50
	// providerVersion is the version of the imitated provider.
	providerVersion = "4.7.0"
)

// namedLink is a document on the shared socket.
type namedLink struct {
	t        *hocuspocus
	name     string
	sock     *socket
	in       chan ysync.Frame
	authed   chan struct{} // closed when the server has taken the token
	viewOnly atomic.Bool
	ctx      context.Context
	stop     context.CancelCauseFunc
}

func (t *hocuspocus) Open(ctx context.Context, name string) (Link, error) {
	select {
	case t.opening <- struct{}{}:
		defer func() { <-t.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l, err := t.attach(ctx, name)
	if err != nil {
		return nil, err
	}
	l.Send(ysync.AppendToken(nil, t.address.Token, providerVersion))
	wait, cancel := context.WithTimeout(l.ctx, dialTimeout)
	defer cancel()
	select {
	case <-l.authed:
		return l, nil
	case <-wait.Done():
		err := l.Err()
		if err == nil {
			err = fmt.Errorf("%w: no answer to the token", ErrSilent)
		}
		l.Close()
		return nil, err
	}
}

// attach adds a document to the socket, which it opens for the first one.
func (t *hocuspocus) attach(ctx context.Context, name string) (*namedLink, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named[name] != nil {
		return nil, fmt.Errorf("document %q is connected already", name)
	}
	if t.sock == nil {
		// The socket outlives the caller.
		s, err := dial(context.WithoutCancel(ctx), t.client, t.address.URL.String(), nil)
		if err != nil {
			return nil, err
		}
		t.sock = s
		go t.route(s)
	}
	l := &namedLink{t: t, name: name, sock: t.sock, in: make(chan ysync.Frame, 16), authed: make(chan struct{})}
	l.ctx, l.stop = context.WithCancelCause(ctx)
	t.named[name] = l
	return l, nil
}

// route delivers frames to their documents until the socket ends.
func (t *hocuspocus) route(s *socket) {
	for frame := range s.in {
		f, err := ysync.DecodeHocuspocus(frame)
		if err != nil {
			s.end(fmt.Errorf("%w: %v", ErrProtocol, err))
			break
		}
		if f.Type == ysync.Ping {
			s.Send([]byte{byte(ysync.Pong)})
			continue
		}
		t.mu.Lock()
		l := t.named[f.Document]
		t.mu.Unlock()
		if l != nil {
			l.take(f)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sock == s {
		t.sock = nil
	}
	for name, l := range t.named {
		if l.sock == s {
			delete(t.named, name)
			l.stop(s.Err())
		}
	}
}

// take handles frames about the link itself and delivers the others. Only route calls it.
func (l *namedLink) take(f ysync.Frame) {
	switch {
	case f.Type == ysync.Auth && f.Auth == ysync.Authenticated:
		l.viewOnly.Store(f.Text == "readonly")
		select {
		case <-l.authed:
		default:
			close(l.authed)
		}
		return
	case f.Type == ysync.Auth && f.Auth == ysync.PermissionDenied:
		l.stop(fmt.Errorf("%w: %s", ErrDenied, f.Text))
		return
	case f.Type == ysync.Auth:
		l.Send(ysync.AppendToken(nil, l.t.address.Token, providerVersion))
		return
	case f.Type == ysync.Close:
		l.stop(fmt.Errorf("%w: it closed the document (%s)", ErrUnreachable, f.Text))
		return
	}
	select {
	case l.in <- f:
	case <-l.ctx.Done():
	}
}

func (l *namedLink) Send(frame []byte) {
	l.sock.Send(append(ysync.AppendDocument(nil, l.name), frame...))
}

func (l *namedLink) Frames() <-chan ysync.Frame { return l.in }
func (l *namedLink) Done() <-chan struct{}      { return l.ctx.Done() }
func (l *namedLink) Err() error                 { return context.Cause(l.ctx) }
func (l *namedLink) ReadOnly() bool             { return l.viewOnly.Load() }
func (l *namedLink) Acks() AckStyle             { return AckStatus }

// Close takes the document off the socket.
func (l *namedLink) Close() {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.stop(context.Canceled)
	if l.t.named[l.name] == l {
		delete(l.t.named, l.name)
		l.Send([]byte{byte(ysync.Close), 0})
	}
}

func (t *hocuspocus) Fetch(context.Context, string) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
func (t *hocuspocus) Expired(string) {} // there is no other token
func (t *hocuspocus) Links() int     { return maxNamed }
func (t *hocuspocus) Reports() bool  { return false }

func (t *hocuspocus) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sock != nil {
		t.sock.Close()
	}
	t.client.CloseIdleConnections()
}
