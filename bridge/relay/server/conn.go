package server

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/relay/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// writePatience is how long a client may take to accept one frame.
const writePatience = 30 * time.Second

// closing is why a connection ends: a close code and a sentence.
type closing struct {
	code   websocket.StatusCode
	reason string
}

func (e *closing) Error() string { return e.reason }

var (
	errGoingAway = &closing{websocket.StatusGoingAway, "server is shutting down"}
	errTokenOver = &closing{websocket.StatusPolicyViolation, "Token expired"}
	errMalformed = &closing{websocket.StatusInvalidFramePayloadData, "malformed frame"}
	errNotBinary = &closing{websocket.StatusUnsupportedData, "frames are binary"}
	errTooSlow   = &closing{websocket.StatusTryAgainLater, "client does not read fast enough: connect again to catch up"}
	errNoAnswer  = &closing{websocket.StatusGoingAway, "client does not answer"}
	errOver      = &closing{websocket.StatusServiceRestart, "document was closed: connect again"}
	errTooLarge  = &closing{websocket.StatusMessageTooBig, "note would be too large"}
	errNotKept   = &closing{websocket.StatusInternalError, "change could not be kept"}
)

// conn is one websocket of a client.
type conn struct {
	s      *Server
	room   *room
	ws     *websocket.Conn
	claims token.Claims
	full   bool // it may write
	end    context.CancelCauseFunc
	out    chan []byte

	denied bool   // it was told that it may only read
	events func() // ends the subscription to events, nil without one

	mu      sync.Mutex // protects the following
	clients map[ycrdt.ClientID]struct{}
	sent    bool // something was, since the last beat
}

// socket is GET /d/ID/ws/ID.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != r.PathValue("again") {
		s.fail(w, r, &refusal{http.StatusBadRequest, "the two ids in the path differ"})
		return
	}
	s.connect(w, r, r.PathValue("id"))
}

// room is y-websocket's way: the path is the name of the document.
func (s *Server) room(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("room")
	if r.Header.Get("Upgrade") == "" {
		http.NotFound(w, r)
		return
	}
	id, ok := s.host.Named(name)
	if !ok {
		id = name
	}
	s.connect(w, r, id)
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
	if errors.Is(err, fs.ErrNotExist) {
		err = errUnknown
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer room.leave()
	// Origins have been looked at; compression would let a small frame swell.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // the client has the answer
	}
	c := &conn{
		s: s, room: room, ws: ws, claims: claims, full: p == token.Full,
		out: make(chan []byte, s.o.Limits.Queue), clients: make(map[ycrdt.ClientID]struct{}),
	}
	c.serve()
}

// serve reads and writes until one of them ends.
func (c *conn) serve() {
	ctx, end := context.WithCancelCause(c.s.ctx)
	c.end = end
	c.ws.SetReadLimit(c.s.o.Limits.Frame)
	if expires := c.claims.Expires; !expires.IsZero() {
		defer time.AfterFunc(time.Until(expires), func() { end(errTokenOver) }).Stop()
	}
	var running sync.WaitGroup
	running.Go(func() { end(c.write(ctx)) })
	running.Go(func() { end(c.beat(ctx)) })
	running.Go(func() { c.shut(ctx) })
	c.room.add(c)
	c.greet()
	end(c.read(ctx))
	running.Wait()
	c.depart()
}

// greet sends what a server says first.
func (c *conn) greet() {
	c.queue(ysync.AppendStep1(nil, c.room.doc.Doc().EncodeStateVector()))
	if len(c.room.awareness.Others()) > 0 {
		c.queue(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll()))
	}
}

// shut closes the websocket with the code that tells why.
func (c *conn) shut(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.room.doc.Over():
		c.end(errOver)
	}
	cause := context.Cause(ctx)
	if c.s.ctx.Err() != nil {
		cause = errGoingAway
	}
	why := &closing{websocket.StatusNormalClosure, ""}
	if !errors.As(cause, &why) {
		_ = c.ws.CloseNow() // the client has gone
		return
	}
	_ = c.ws.Close(why.code, why.reason)
}

// depart takes back what the connection brought in.
func (c *conn) depart() {
	c.room.remove(c)
	if c.events != nil {
		c.events()
	}
	c.mu.Lock()
	var clients []ycrdt.ClientID
	for id := range c.clients {
		clients = append(clients, id)
	}
	c.mu.Unlock()
	if len(clients) > 0 {
		c.room.awareness.Remove(c, clients...)
	}
}

// announced keeps which clients speak over this connection: with it they leave.
func (c *conn) announced(ev ysync.AwarenessEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ids := range [][]ycrdt.ClientID{ev.Added, ev.Updated} {
		for _, id := range ids {
			c.clients[id] = struct{}{}
		}
	}
	for _, id := range ev.Removed {
		delete(c.clients, id)
	}
}

// queue hands a frame to the writer. A client that does not keep up is cut off,
// so that it connects again and gets what it missed: frames are never dropped
// silently.
func (c *conn) queue(frame []byte) {
	select {
	case c.out <- frame:
	default:
		c.end(errTooSlow)
	}
}

// write sends what is queued.
func (c *conn) write(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case frame := <-c.out:
			if err := c.send(frame); err != nil {
				return err
			}
		}
	}
}

// send writes one frame. Its context, and that of reads, is not the connection's:
// the library cuts the line when one ends, before the close code is sent.
func (c *conn) send(frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writePatience)
	defer cancel()
	err := c.ws.Write(ctx, websocket.MessageBinary, frame)
	c.mu.Lock()
	c.sent = true
	c.mu.Unlock()
	return err
}

// beat keeps the connection alive: with a ping, which tells this side that the
// other is there, and, if nothing else was sent, with the awareness, since
// browsers do not show pings to programs and those hang up after 30 seconds.
func (c *conn) beat(ctx context.Context) error {
	tick := time.NewTicker(c.s.o.Limits.Ping)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		c.mu.Lock()
		quiet := !c.sent
		c.sent = false
		c.mu.Unlock()
		if quiet {
			c.queue(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll()))
		}
		patience, cancel := context.WithTimeout(ctx, 2*c.s.o.Limits.Ping)
		err := c.ws.Ping(patience)
		cancel()
		if err != nil && ctx.Err() == nil {
			return errNoAnswer
		}
	}
}

// read handles frames until the client leaves or sends one that is none.
func (c *conn) read(ctx context.Context) error {
	for {
		kind, data, err := c.ws.Read(context.Background()) // until shut closes it
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig):
			return &closing{websocket.StatusMessageTooBig, "frame is too large"}
		case err != nil:
			return err
		case kind != websocket.MessageBinary:
			return errNotBinary
		case c.expired():
			return errTokenOver
		}
		if err := c.handle(ctx, data); err != nil {
			return err
		}
	}
}

func (c *conn) expired() bool {
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
	case errors.Is(err, bridge.ErrClosed):
		return errGoingAway
	}
	return errNotKept
}
