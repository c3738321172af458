package transport

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// hocuspocus is a Server of Hocuspocus: all documents share one socket, and each is
// authenticated separately.
type hocuspocus struct {
	baseServer
	opening chan struct{} // semaphore, because the server limits the number of unauthenticated documents

	mu    sync.Mutex // guards the fields below
	sock  *socket
	named map[string]*Link
}

const (
	// maxNamed is the maximum number of documents on the socket.
	maxNamed = 1000
	// maxOpening is the maximum number of concurrent authentications.
	maxOpening = 50
	// providerVersion is the version of the imitated provider.
	providerVersion = "4.7.0"
)

func (t *hocuspocus) Open(ctx context.Context, name string) (*Link, error) {
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

// attach adds a document to the socket. It opens the socket for the first document.
func (t *hocuspocus) attach(ctx context.Context, name string) (*Link, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.awaitClosed(ctx, name); err != nil {
		return nil, err
	}
	if t.sock == nil {
		// The socket must live longer than the caller's context.
		s, err := dial(context.WithoutCancel(ctx), t.client, t.address.URL.String(), nil)
		if err != nil {
			return nil, err
		}
		t.sock = s
		go func() {
			s.read(func(frame []byte) error { return t.route(s, frame) })
			t.disconnected(s)
		}()
	}
	l := &Link{
		Statuses: true, sock: t.sock, name: ysync.AppendDocument(nil, name), in: make(chan ysync.Frame, 16),
		authed: make(chan struct{}), closed: make(chan struct{}),
	}
	l.ctx, l.stop = context.WithCancelCause(ctx)
	l.detach = sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.named[name] == l {
			l.Send([]byte{byte(ysync.Close), 0})
		}
	})
	t.named[name] = l
	return l, nil
}

// awaitClosed waits until the server has closed the document of an earlier link, because the server takes frames that
// arrive before as frames of that link. The caller holds t.mu, which is released while waiting.
func (t *hocuspocus) awaitClosed(ctx context.Context, name string) error {
	for l := t.named[name]; l != nil; l = t.named[name] {
		if l.ctx.Err() == nil {
			return fmt.Errorf("document %q is already connected", name)
		}
		t.mu.Unlock()
		select {
		case <-l.closed:
		case <-time.After(dialTimeout):
			t.forget(name, l)
		case <-ctx.Done():
		}
		t.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// forget removes a link that the server has closed. The server would take another close as one for the document's next
// link.
func (t *hocuspocus) forget(name string, l *Link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named[name] == l {
		delete(t.named, name)
		close(l.closed)
	}
}

func (t *hocuspocus) route(s *socket, frame []byte) error {
	f, err := ysync.DecodeHocuspocus(frame)
	if err != nil {
		return err
	}
	if f.Type == ysync.Ping {
		s.Send([]byte{byte(ysync.Pong)})
		return nil
	}
	t.mu.Lock()
	l := t.named[f.Document]
	t.mu.Unlock()
	if l != nil {
		t.take(l, f)
	}
	return nil
}

func (t *hocuspocus) disconnected(s *socket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sock == s {
		t.sock = nil
	}
	for name, l := range t.named {
		if l.sock == s {
			delete(t.named, name)
			close(l.closed)
			l.stop(s.Err())
		}
	}
}

// take handles frames about the link itself and delivers all other frames. Only route calls it.
func (t *hocuspocus) take(l *Link, f ysync.Frame) {
	switch {
	case f.Type == ysync.Auth && f.Auth == ysync.Authenticated:
		l.viewOnly.Store(f.Text == "readonly")
		select {
		case <-l.authed:
		default:
			close(l.authed)
		}
	case f.Type == ysync.Auth && f.Auth == ysync.PermissionDenied:
		t.forget(f.Document, l)
		l.stop(fmt.Errorf("%w: %s", ErrDenied, Said(f.Text)))
	case f.Type == ysync.Auth:
		l.Send(ysync.AppendToken(nil, t.address.Token, providerVersion))
	case f.Type == ysync.Close:
		t.forget(f.Document, l)
		l.stop(fmt.Errorf("%w: it closed the document (%s)", ErrUnreachable, Said(f.Text)))
	default:
		l.deliver(f)
	}
}

func (t *hocuspocus) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sock != nil {
		t.sock.Close()
	}
	t.client.CloseIdleConnections()
}
