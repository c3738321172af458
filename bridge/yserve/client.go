package yserve

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// client is one client of one document. A websocket has one, or in Hocuspocus's
// framing several.
type client struct {
	socket *socket
	room   *room
	claims token.Claims
	token  string // that it has shown
	full   bool   // it may write
	// name stands in front of each frame in Hocuspocus's framing, encoded; nil in
	// y-websocket's.
	name   []byte
	prefix string      // in front of the ids of documents; "" or RELAY-
	expiry *time.Timer // ends the connection with the token; nil if that does not expire

	denied bool   // it was told that it may only read
	events func() // ends the subscription to events, nil without one

	mu    sync.Mutex // protects the following
	peers map[ycrdt.ClientID]struct{}
}

// serveDoc is GET /d/ID/ws/ID.
func (s *Server) serveDoc(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != r.PathValue("again") {
		s.fail(w, r, &refusal{http.StatusBadRequest, "the two ids in the path differ"})
		return
	}
	s.connect(w, r, r.PathValue("id"))
}

// serveRoom is y-websocket's way: the path is the name of the document. Without
// a name, it is Hocuspocus's, whose frames name it.
func (s *Server) serveRoom(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("room")
	switch {
	case r.Header.Get("Upgrade") == "":
		http.NotFound(w, r)
	case name == "":
		s.multiplex(w, r)
	default:
		s.connect(w, r, s.named(name))
	}
}

// named is the id of the document that people know by a path, or path itself.
func (s *Server) named(path string) string {
	if id, ok := s.host.Named(path); ok {
		return id
	}
	return path
}

// connect makes a websocket of a request and serves it until it ends.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, id string) {
	claims, p, err := s.onDoc(r, id)
	if errors.Is(err, errResource) {
		err = &refusal{http.StatusForbidden, errResource.text}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !s.enter() {
		s.fail(w, r, errBusy)
		return
	}
	defer s.leave()
	room, err := s.join(r.Context(), id, p == token.Full)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	k := s.accept(w, r)
	if k == nil {
		room.leave()
		return
	}
	k.ws.SetReadLimit(s.frameLimit(p == token.Full))
	c := newClient(k, room, requestToken(r), claims, p)
	_, c.prefix = s.own(id)
	k.setHail(c.hail)
	c.greet()
	k.serve(c.take)
	c.depart()
}

// frameLimit is the size in bytes of the largest frame of a client that may write, or
// only read.
func (s *Server) frameLimit(full bool) int64 {
	if full {
		return s.o.Limits.Frame
	}
	return min(s.o.Limits.Frame, s.o.Limits.ReadOnly)
}

// newClient makes a client of a room, of which it is a member already.
func newClient(k *socket, r *room, text string, claims token.Claims, p token.Permission) *client {
	c := &client{socket: k, room: r, token: text, claims: claims, full: p == token.Full, peers: make(map[ycrdt.ClientID]struct{})}
	if expires := claims.Expires; !expires.IsZero() {
		c.expiry = time.AfterFunc(time.Until(expires), func() { k.end(errTokenOver) })
	}
	return c
}

// greet sends what a server says first, and lets the client hear of what happens
// from now on.
func (c *client) greet() {
	c.room.add(c)
	c.queue(ysync.AppendStep1(nil, c.room.doc.Doc().EncodeStateVector()))
	if len(c.room.awareness.Others()) > 0 {
		c.hail()
	}
}

// hail tells who is there.
func (c *client) hail() { c.queue(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll())) }

// queue sends a frame, see socket.queue.
func (c *client) queue(frame []byte) { c.socket.queue(c.framed(frame)) }

// reply answers the client, see socket.reply.
func (c *client) reply(frame []byte) { c.socket.reply(c.framed(frame)) }

func (c *client) framed(frame []byte) []byte {
	if c.name == nil {
		return frame
	}
	return append(c.name[:len(c.name):len(c.name)], frame...)
}

// over tells the client that the document is not what it was.
func (c *client) over() {
	if c.name == nil {
		c.socket.end(errOver)
		return
	}
	c.queue(ysync.AppendClose(nil, errOver.reason))
}

// depart takes back what the client brought in, and leaves the room.
func (c *client) depart() {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.room.remove(c)
	if c.events != nil {
		c.events()
	}
	c.mu.Lock()
	var peers []ycrdt.ClientID
	for id := range c.peers {
		peers = append(peers, id)
	}
	c.mu.Unlock()
	if len(peers) > 0 {
		c.room.awareness.Remove(c, peers...)
	}
	c.room.leave()
}

// announced keeps which peers speak over this connection: with it they leave.
func (c *client) announced(ev ysync.AwarenessEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ids := range [][]ycrdt.ClientID{ev.Added, ev.Updated} {
		for _, id := range ids {
			c.peers[id] = struct{}{}
		}
	}
	for _, id := range ev.Removed {
		delete(c.peers, id)
	}
}

func (c *client) expired() bool {
	return !c.claims.Expires.IsZero() && time.Now().After(c.claims.Expires)
}

// endOf is why an error of Apply ends the connection, nil if it does not.
func endOf(err error) error {
	switch {
	case err == nil, errors.Is(err, bridge.ErrReadOnly), errors.Is(err, bridge.ErrOffline):
		return nil
	case errors.Is(err, ycrdt.ErrMalformed), errors.Is(err, ycrdt.ErrUpdateV2), errors.Is(err, ycrdt.ErrPendingLimit):
		return errMalformed
	case errors.Is(err, bridge.ErrTooLarge), errors.Is(err, ycrdt.ErrTooLarge):
		return errTooLarge
	case errors.Is(err, fs.ErrNotExist):
		return errOver
	case errors.Is(err, bridge.ErrClosed), errors.Is(err, context.Canceled):
		return errGoingAway
	}
	return errNotKept
}
