package relaytest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// document is a document with its websockets. The server's lock protects it.
type document struct {
	id      string
	doc     *ycrdt.Doc
	clients map[*client]bool
	loaded  bool
	channel string            // while loaded
	index   map[string][]byte // snapshots of the documents whose channel this is
}

// client is one websocket.
type client struct {
	conn       *websocket.Conn
	out        chan []byte
	end        context.CancelFunc
	subscribed bool // protected by the server's lock
}

// queued is the number of frames that wait for a client at most.
const queued = 1024

// stored returns a document, which it creates unless it exists. The caller holds the lock.
func (s *Server) stored(id string) *document {
	d := s.docs[id]
	if d == nil {
		d = &document{id: id, doc: ycrdt.NewDoc(ycrdt.Options{}), clients: make(map[*client]bool), index: make(map[string][]byte)}
		s.docs[id] = d
	}
	return d
}

// load returns a document, which it loads unless it is loaded. channel may be "". The caller
// holds the lock.
func (s *Server) load(id, channel, by string) *document {
	d := s.stored(id)
	if d.loaded {
		return d
	}
	d.loaded, d.channel = true, cmp.Or(channel, id)
	s.loads = append(s.loads, Load{id, d.channel, by})
	if d.channel != id {
		s.load(d.channel, "", "subdoc")
	}
	return d
}

// apply applies an update, and tells the websockets of the document and of its channel. The
// caller holds the lock.
func (s *Server) apply(d *document, update []byte) error {
	before := d.doc.Snapshot().Encode()
	if err := d.doc.ApplyUpdate(update, nil); err != nil {
		return err
	}
	after := d.doc.Snapshot().Encode()
	if bytes.Equal(before, after) {
		return nil
	}
	for c := range d.clients { // the sender, too
		c.send(ysync.AppendUpdate(nil, update))
	}
	folder := s.docs[d.channel]
	if folder != d {
		folder.index[d.id] = after
	}
	event, err := cbor.Marshal(map[string]any{
		"event_id": rand.Text(), "event_type": ysync.DocumentUpdated, "doc_id": d.id, "timestamp": time.Now().UnixMilli(),
	})
	for c := range folder.clients {
		if c.subscribed {
			c.send(ysync.AppendEvent(nil, event))
		}
	}
	return err
}

// send queues a frame. A client that does not keep up ends.
func (c *client) send(frame []byte) {
	select {
	case c.out <- frame:
	default:
		c.end()
	}
}

// connect serves a websocket until either side ends it.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	claims, p, ok := s.onDoc(w, r)
	switch {
	case !ok:
		return
	case id != r.PathValue("again"):
		refuse(w, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	if s.docs[id] == nil && p != token.Full {
		s.mu.Unlock()
		refuse(w, http.StatusNotFound)
		return
	}
	d := s.load(id, claims.Channel, "ws")
	s.mu.Unlock()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	c := &client{conn: conn, out: make(chan []byte, queued), end: cancel}
	go c.write(ctx)
	s.mu.Lock()
	d.clients[c] = true
	c.send(ysync.AppendStep1(nil, d.doc.EncodeStateVector()))
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(d.clients, c)
		s.mu.Unlock()
	}()
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if !claims.Expires.IsZero() && time.Now().After(claims.Expires) {
			_ = conn.Close(websocket.StatusPolicyViolation, "Token expired")
			return
		}
		if f, err := ysync.Decode(frame); err == nil {
			s.take(d, c, f, p)
		}
	}
}

func (c *client) write(ctx context.Context) {
	for {
		select {
		case frame := <-c.out:
			if c.conn.Write(ctx, websocket.MessageBinary, frame) != nil {
				c.end()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// take handles a frame. What is malformed, or not permitted, is dropped.
func (s *Server) take(d *document, c *client, f ysync.Frame, p token.Permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Type {
	case ysync.Sync:
		if f.Step == ysync.Step1 {
			if reply, err := f.Apply(d.doc, nil); err == nil {
				c.send(reply)
			}
		} else if p == token.Full {
			_ = s.apply(d, f.Payload)
		}
	case ysync.AwarenessState:
		for other := range d.clients {
			other.send(ysync.AppendAwareness(nil, f.Payload))
		}
	case ysync.Echo:
		c.send(ysync.AppendEcho(nil, f.Payload))
	case ysync.Subscribe:
		c.subscribed = c.subscribed || slices.Contains(f.Names, ysync.DocumentUpdated)
	case ysync.QuerySubdocs:
		c.send(ysync.AppendSubdocs(nil, s.subdocs(d, f.Names)))
	}
}

// subdocs answers a query with what the index of a folder has.
func (s *Server) subdocs(folder *document, ids []string) []byte {
	type subdoc struct {
		Snapshot []byte `cbor:"snapshot"`
		LastSeen int64  `cbor:"last_seen"`
	}
	snapshots, vectors := make(map[string]subdoc), make(map[string][]byte)
	for _, id := range ids {
		if snapshot, ok := folder.index[id]; ok {
			snapshots[id] = subdoc{snapshot, time.Now().UnixMilli()}
			vectors[id] = s.docs[id].doc.EncodeStateVector()
		}
	}
	var data []byte
	var err error
	if s.o.Vectors {
		data, err = cbor.Marshal(vectors)
	} else {
		data, err = cbor.Marshal(map[string]any{"data": snapshots})
	}
	if err != nil {
		panic(err) // maps of bytes can be encoded
	}
	return data
}
