package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/relayfs/relayfs/bridge/ysync"
)

type socketLink struct {
	*socket
	style    AckStyle
	viewOnly bool
	in       chan ysync.Frame
}

// newSocketLink decodes the frames of a socket, until that ends.
func newSocketLink(s *socket, style AckStyle, viewOnly bool) *socketLink {
	l := &socketLink{socket: s, style: style, viewOnly: viewOnly, in: make(chan ysync.Frame, 16)}
	go l.decode()
	return l
}

func (l *socketLink) decode() {
	for frame := range l.socket.in {
		f, err := ysync.Decode(frame)
		if err != nil {
			l.end(fmt.Errorf("%w: %v", ErrProtocol, err))
			return
		}
		select {
		case l.in <- f:
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *socketLink) Frames() <-chan ysync.Frame { return l.in }
func (l *socketLink) Done() <-chan struct{}      { return l.ctx.Done() }
func (l *socketLink) ReadOnly() bool             { return l.viewOnly }
func (l *socketLink) Acks() AckStyle             { return l.style }

// rooms is a Server of y-websocket: the path of a socket is the room of a document.
type rooms struct {
	address Address
	client  *http.Client
}

// maxRooms is the number of sockets. Other notes are compared now and then, and when
// somebody uses them.
const maxRooms = 256

func (t *rooms) Open(ctx context.Context, name string) (Link, error) {
	u := t.address.URL.JoinPath(url.PathEscape(name))
	var header http.Header
	if t.address.Token != "" {
		u.RawQuery = url.Values{"token": {t.address.Token}}.Encode()
		header = http.Header{"Authorization": {"Bearer " + t.address.Token}}
	}
	s, err := dial(ctx, t.client, u.String(), header)
	if err != nil {
		return nil, err
	}
	return newSocketLink(s, AckStep2, false), nil
}

func (t *rooms) Fetch(context.Context, string) ([]byte, error) { return nil, errors.ErrUnsupported }
func (t *rooms) Expired(string)                                {} // there is no other token
func (t *rooms) Links() int                                    { return maxRooms }
func (t *rooms) Reports() bool                                 { return false }
func (t *rooms) Close()                                        { t.client.CloseIdleConnections() }
