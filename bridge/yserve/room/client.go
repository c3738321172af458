package room

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/socket"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Shown is a client's token and what it permits.
type Shown struct {
	Token  string
	Claims token.Claims
	Full   bool // with write access
	// Name precedes each frame in Hocuspocus's framing, encoded; nil in y-websocket's.
	Name   []byte
	Prefix string // in front of the ids of documents; "" or RELAY-
}

// Client is one client of one document. A websocket has one, or in Hocuspocus's framing
// several.
type Client struct {
	Shown
	socket *socket.Socket
	room   *Room
	expiry *time.Timer // ends the connection with the token; nil if that does not expire

	denied bool   // it was told that its writes are rejected
	events func() // ends the subscription to events, nil without one

	mu    sync.Mutex // protects the following
	peers map[ycrdt.ClientID]struct{}
}

// NewClient returns a client of a room that it has joined.
func NewClient(k *socket.Socket, r *Room, shown Shown) *Client {
	c := &Client{Shown: shown, socket: k, room: r, peers: make(map[ycrdt.ClientID]struct{})}
	if expires := shown.Claims.Expires; !expires.IsZero() {
		c.expiry = time.AfterFunc(time.Until(expires), func() { k.End(socket.ErrTokenOver) })
	}
	return c
}

// Greet sends the server's first frames, and subscribes the client to the room.
func (c *Client) Greet() {
	c.room.add(c)
	c.queue(ysync.AppendStep1(nil, c.room.doc.Doc().EncodeStateVector()))
	c.hailOthers()
}

// Welcome is Greet in Hocuspocus's framing.
func (c *Client) Welcome() {
	scope := "readonly"
	if c.Full {
		scope = "read-write"
	}
	c.reply(ysync.AppendAuthenticated(nil, scope))
	c.room.add(c)
	c.hailOthers()
}

func (c *Client) hailOthers() {
	if len(c.room.awareness.Others()) > 0 {
		c.Hail()
	}
}

// Hail sends all awareness states.
func (c *Client) Hail() { c.queue(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll())) }

func (c *Client) queue(frame []byte) { c.socket.Queue(c.framed(frame)) }

func (c *Client) reply(frame []byte) { c.socket.Reply(c.framed(frame)) }

func (c *Client) framed(frame []byte) []byte {
	if c.Name == nil {
		return frame
	}
	return append(c.Name[:len(c.Name):len(c.Name)], frame...)
}

func (c *Client) over() {
	if c.Name == nil {
		c.socket.End(socket.ErrOver)
		return
	}
	c.queue(ysync.AppendClose(nil, socket.ErrOver.Reason))
}

// Depart removes the client's awareness states, and leaves the room.
func (c *Client) Depart() {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.room.remove(c)
	if c.events != nil {
		c.events()
	}
	c.mu.Lock()
	peers := slices.Collect(maps.Keys(c.peers))
	c.mu.Unlock()
	if len(peers) > 0 {
		c.room.awareness.Remove(c, peers...)
	}
	c.room.Leave()
}

// announced records the peers of this connection, which leave with it.
func (c *Client) announced(ev ysync.AwarenessEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Concat(ev.Added, ev.Updated) {
		c.peers[id] = struct{}{}
	}
	for _, id := range ev.Removed {
		delete(c.peers, id)
	}
}

// endOf returns the reason if an error of Apply ends the connection, else nil.
func endOf(err error) error {
	switch {
	case err == nil, errors.Is(err, model.ErrReadOnly), errors.Is(err, model.ErrOffline):
		return nil
	case errors.Is(err, ycrdt.ErrMalformed), errors.Is(err, ycrdt.ErrUpdateV2), errors.Is(err, ycrdt.ErrPendingLimit):
		return socket.ErrMalformed
	case errors.Is(err, model.ErrTooLarge), errors.Is(err, ycrdt.ErrTooLarge):
		return socket.ErrTooLarge
	case errors.Is(err, fs.ErrNotExist):
		return socket.ErrOver
	case errors.Is(err, model.ErrClosed), errors.Is(err, context.Canceled):
		return socket.ErrGoingAway
	}
	return socket.ErrNotKept
}

// recheck ends the connection if its token is not valid any more.
func (c *Client) recheck() {
	if _, err := c.room.rooms.o.Access.Verify(c.Token); err != nil {
		c.socket.End(socket.ErrRevoked)
	}
}
