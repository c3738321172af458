package relaytest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// document is a document with its websockets. The server's lock guards it.
type document struct {
	id      string
	doc     *ycrdt.Doc
	clients map[*client]bool
	torn    bool              // the store has only part of the document
	index   map[string][]byte // for a channel: snapshots of its documents

	// The fields below are only valid while the document is loaded.
	loaded  bool
	channel string
	user    string    // user of the token that caused the document to be loaded
	used    time.Time // time when the last request or websocket ended
	pending [][]byte  // updates to report in the next event
}

type client struct {
	conn       *websocket.Conn
	out        chan []byte
	end        context.CancelFunc
	user       string // user of its token
	subscribed bool   // guarded by the server's lock
}

// queued is the maximum number of queued frames of a client.
const queued = 1024

// stored returns a document. It creates the document if necessary. The caller holds the lock.
func (s *Server) stored(id string) *document {
	d := s.docs[id]
	if d == nil {
		d = &document{id: id, doc: ycrdt.NewDoc(ycrdt.Options{}), clients: make(map[*client]bool), index: make(map[string][]byte)}
		s.docs[id] = d
	}
	return d
}

// load returns a document, and loads it if necessary. channel and user come from the token of the request; author
// becomes Load.By. The caller holds the lock.
func (s *Server) load(id, channel, user, author string) (*document, error) {
	d := s.stored(id)
	if d.torn {
		return nil, fmt.Errorf("failed to load %s/data.ysweet: unexpected end of file", id)
	}
	d.used = time.Now()
	time.AfterFunc(2*s.o.Checkpoint, func() { s.evict(d) })
	if d.loaded {
		return d, nil
	}
	d.loaded, d.channel, d.user = true, cmp.Or(channel, id), user
	s.loads = append(s.loads, Load{id, d.channel, author})
	if d.channel != id {
		if _, err := s.load(d.channel, "", "", "subdoc"); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// evict unloads a document that was not used for two checkpoint intervals.
func (s *Server) evict(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(d.clients) > 0 || time.Since(d.used) < 2*s.o.Checkpoint {
		return
	}
	for _, other := range s.docs {
		if other != d && other.loaded && other.channel == d.id {
			time.AfterFunc(s.o.Checkpoint, func() { s.evict(d) })
			return
		}
	}
	d.loaded = false
}

// apply applies an update. If the update changes the document, apply sends it to the websockets of the document
// immediately, and to the subscribers of its channel after eventDelay. user is the user of the sending websocket. The
// caller holds the lock.
func (s *Server) apply(d *document, update []byte, user string) error {
	before, known := d.doc.Snapshot().Encode(), d.doc.StateVector()
	if err := d.doc.ApplyUpdate(update); err != nil {
		return err
	}
	if bytes.Equal(before, d.doc.Snapshot().Encode()) {
		return nil
	}
	s.broadcast(d, update)
	if user != "" {
		if own := s.ownChanges(d, func() { register(d.doc, user, known) }); own != nil {
			s.broadcast(d, own)
		}
	}
	if folder := s.docs[d.channel]; folder != d {
		folder.index[d.id] = d.doc.Snapshot().Encode()
	}
	return nil
}

// ownChanges returns the changes that fn makes as one update, or nil if there are none.
func (s *Server) ownChanges(d *document, fn func()) []byte {
	var made [][]byte
	d.doc.OnUpdate(func(update []byte) { made = append(made, update) })
	defer d.doc.OnUpdate(nil)
	fn()
	if len(made) == 0 {
		return nil
	}
	return merged(made)
}

func merged(updates [][]byte) []byte {
	update, err := ycrdt.MergeUpdates(updates...)
	if err != nil {
		panic(err) // cannot happen: each update was made or applied here
	}
	return update
}

// broadcast sends a change to the document's websockets, including the sender's, and adds it to the next event.
func (s *Server) broadcast(d *document, update []byte) {
	for c := range d.clients {
		c.send(ysync.AppendUpdate(nil, update))
	}
	if d.pending = append(d.pending, update); len(d.pending) == 1 {
		time.AfterFunc(eventDelay, func() { s.report(d) })
	}
}

const eventDelay = time.Second

// event reports a change of a document to its channel. Its fields are in the order of the wire format.
type event struct {
	ID        string            `cbor:"event_id"`
	Type      string            `cbor:"event_type"`
	Document  string            `cbor:"doc_id"`
	Timestamp int64             `cbor:"timestamp"`
	User      *string           `cbor:"user"`
	Metadata  map[string]string `cbor:"metadata"`
	Update    []uint16          `cbor:"update"` // bytes of the update; this type encodes them as an array of integers
}

// report sends the event of a document's changes to the subscribers of its channel.
func (s *Server) report(d *document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := d.pending
	d.pending = nil
	if len(pending) == 0 || s.ctx.Err() != nil {
		return
	}
	e := event{
		ID: "evt_" + rand.Text(), Type: ysync.DocumentUpdated, Document: d.id, Timestamp: time.Now().UnixMilli(),
		Metadata: map[string]string{"channel": d.channel},
	}
	if d.user != "" {
		e.User = &d.user
	}
	for _, b := range merged(pending) {
		e.Update = append(e.Update, uint16(b))
	}
	data, err := cbor.Marshal(e)
	if err != nil {
		panic(err) // cannot happen: every field has a CBOR form
	}
	for c := range s.stored(d.channel).clients {
		if c.subscribed {
			c.send(ysync.AppendEvent(nil, data))
		}
	}
}

func register(doc *ycrdt.Doc, user string, known ycrdt.StateVector) {
	users := doc.Map("users")
	for id := range doc.StateVector() {
		if _, old := known[id]; old || id == doc.ClientID() {
			continue
		}
		doc.Transact(func(tx *ycrdt.Txn) {
			v, _ := users.GetIn(tx, user)
			if _, ok := v.(*ycrdt.Map); !ok {
				_ = users.Set(tx, user, ycrdt.NewMap(map[string]any{"ids": ycrdt.NewArray(), "ds": ycrdt.NewArray()}))
				v, _ = users.GetIn(tx, user)
			}
			ids, _ := v.(*ycrdt.Map).GetIn(tx, "ids")
			if ids, ok := ids.(*ycrdt.Array); ok {
				_ = ids.Push(tx, float64(id))
			}
		})
	}
}

// send queues a frame. It drops the frame if the client's queue is full.
func (c *client) send(frame []byte) {
	select {
	case c.out <- frame:
	default:
	}
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if id != r.PathValue("again") {
		refuse(w, http.StatusBadRequest, "the ids differ")
		return
	}
	claims, err := s.verify(r.URL.Query().Get("token"))
	if err != nil {
		refuse(w, http.StatusUnauthorized, err.Error())
		return
	}
	p, ok := claims.OnDoc(id)
	if !ok {
		refuse(w, http.StatusForbidden, "Token not valid for this document")
		return
	}
	s.mu.Lock()
	if s.docs[id] == nil && p != token.Full {
		s.mu.Unlock()
		refuse(w, http.StatusNotFound, "Doc "+id+" not found")
		return
	}
	d, err := s.load(id, claims.Channel, claims.User, "ws")
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	c := &client{conn: conn, out: make(chan []byte, queued), end: cancel, user: claims.User}
	go c.write(ctx)
	s.mu.Lock()
	d.clients[c] = true
	c.send(ysync.AppendStep1(nil, d.doc.EncodeStateVector()))
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(d.clients, c)
		d.used = time.Now()
		s.mu.Unlock()
		time.AfterFunc(2*s.o.Checkpoint, func() { s.evict(d) })
	}()
	legacy := claims.Audience == ""
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if legacy && !claims.Expires.IsZero() && time.Now().After(claims.Expires) {
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

// take handles a frame. It drops malformed updates, and changes that the permission p does not allow.
func (s *Server) take(d *document, c *client, f ysync.Frame, p token.Permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Type {
	case ysync.Sync:
		if f.Step == ysync.Step1 {
			c.send(ysync.AppendStep2(nil, d.doc.EncodeStateAsUpdate(f.Payload)))
		} else if p == token.Full {
			_ = s.apply(d, f.Payload, c.user)
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

func (s *Server) subdocs(folder *document, ids []string) []byte {
	type subdoc struct {
		Snapshot []byte `cbor:"snapshot"`
		LastSeen int64  `cbor:"last_seen"`
	}
	snapshots := make(map[string]subdoc)
	for _, id := range ids {
		if snapshot, ok := folder.index[id]; ok {
			snapshots[id] = subdoc{snapshot, time.Now().UnixMilli()}
		}
	}
	data, err := cbor.Marshal(map[string]any{"data": snapshots})
	if err != nil {
		panic(err) // cannot happen: a map of bytes can always be encoded
	}
	return data
}
