package transport

import (
	"context"
	"net/http"
	"net/url"
)

// yWebsocket is a Server for y-websocket. The path of a socket is the room of a document.
type yWebsocket struct{ baseServer }

// maxRooms is the maximum number of sockets. Notes without a socket are compared from time to time, and when they are
// used.
const maxRooms = 256

func (t *yWebsocket) Open(ctx context.Context, name string) (*Link, error) {
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
	return newLink(s, false), nil
}
