package room

import (
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/bridge/yserve/socket"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Take handles a frame of y-websocket's framing.
func (c *Client) Take(data []byte) error {
	f, err := ysync.Decode(data)
	switch {
	case errors.Is(err, ysync.ErrUnknownType):
		return nil
	case err != nil:
		return socket.ErrMalformed
	}
	return c.Handle(f)
}

// Handle handles a frame. An error ends the connection.
func (c *Client) Handle(f ysync.Frame) error {
	if end := c.Claims.Expires; !end.IsZero() && time.Now().After(end) {
		return socket.ErrTokenOver
	}
	switch f.Type {
	case ysync.Sync, ysync.SyncReply:
		return c.sync(f)
	case ysync.AwarenessState:
		if err := c.room.awareness.Apply(f.Payload, c); errors.Is(err, ysync.ErrMalformed) {
			return socket.ErrMalformed
		}
	case ysync.QueryAwareness:
		c.reply(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll()))
	case ysync.Echo:
		c.reply(ysync.AppendEcho(nil, f.Payload))
	case ysync.Subscribe:
		c.subscribe(f.Names)
	case ysync.Unsubscribe:
		c.unsubscribe(f.Names)
	case ysync.QuerySubdocs:
		return c.subdocs(f.Names)
	}
	return nil
}

func (c *Client) sync(f ysync.Frame) error {
	if f.Step == ysync.Step1 {
		return c.answer(f)
	}
	saved, err := c.apply(f)
	if err == nil && c.Name != nil {
		c.reply(ysync.AppendSyncStatus(nil, saved))
	}
	return err
}

// answer sends what the client lacks, and in Hocuspocus's framing requests what we lack.
func (c *Client) answer(f ysync.Frame) error {
	doc := c.room.doc.Doc()
	step2, err := f.Apply(doc, nil)
	if err != nil {
		return socket.ErrMalformed
	}
	c.reply(step2)
	if c.Name != nil {
		c.reply(ysync.AppendStep1(nil, doc.EncodeStateVector()))
	}
	return nil
}

// apply applies an update; saved is set if the server has its content.
func (c *Client) apply(f ysync.Frame) (saved bool, err error) {
	doc := c.room.doc
	switch {
	case isEmpty(f.Payload):
		return true, nil
	case !c.Full && f.Step == ysync.Step2 && holds(doc.Doc(), f.Payload):
		return true, nil
	case !c.Full:
		c.deny("this connection may only read")
		return false, nil
	}
	err = doc.Apply(c.socket.Context(), f.Payload, host.Origin{User: c.Claims.User, Sender: c})
	if end := endOf(err); end != nil {
		c.room.rooms.o.Log.Warn("connection ended by an update", model.LogDoc, doc.ID(), model.LogErr, err)
		return false, end
	}
	if err != nil {
		c.deny(err.Error())
	}
	return err == nil, nil
}

// holds reports whether doc has everything in an update. A read-only client answers a step 1
// with the deletions that it has received, too.
func holds(doc *ycrdt.Doc, update []byte) bool {
	trial := ycrdt.NewDoc(ycrdt.Options{})
	if trial.ApplyUpdate(doc.EncodeStateAsUpdate(nil), nil) != nil {
		return false
	}
	before := trial.Snapshot()
	return trial.ApplyUpdate(update, nil) == nil && before.Contains(trial.Snapshot())
}

// isEmpty reports whether an update has no content, as from a client without changes.
func isEmpty(update []byte) bool { return len(update) == 2 && update[0] == 0 && update[1] == 0 }

// deny tells the client once that its changes are rejected.
func (c *Client) deny(reason string) {
	if !c.denied && c.Name == nil { // Hocuspocus has the sync status
		c.denied = true
		c.reply(ysync.AppendPermissionDenied(nil, reason))
	}
}

// event is relay-server's event of a change.
type event struct {
	ID        string   `cbor:"event_id"`
	Type      string   `cbor:"event_type"`
	Document  string   `cbor:"doc_id"`
	Timestamp int64    `cbor:"timestamp"` // Unix milliseconds
	User      string   `cbor:"user,omitempty"`
	Update    []uint16 `cbor:"update,omitempty"` // bytes, as an array of integers
}

// maxEventUpdate is the size in bytes above which an event does not carry its update.
const maxEventUpdate = 64 << 10

// subscribe subscribes the client to events of the documents of this folder document.
func (c *Client) subscribe(types []string) {
	if c.events != nil || !slices.Contains(types, ysync.DocumentUpdated) {
		return
	}
	c.events = c.room.rooms.o.Host.Subscribe(c.room.doc.ID(), func(ev host.Event) {
		data, err := cbor.Marshal(newEvent(ev, c.Prefix))
		if err == nil {
			c.queue(ysync.AppendEvent(nil, data))
		}
	})
}

func newEvent(ev host.Event, prefix string) event {
	e := event{
		ID: rand.Text(), Type: ysync.DocumentUpdated, Document: prefix + ev.Document, Timestamp: time.Now().UnixMilli(), User: ev.User,
	}
	if len(ev.Update) <= maxEventUpdate {
		for _, b := range ev.Update {
			e.Update = append(e.Update, uint16(b)) // []byte would be encoded as a byte string
		}
	}
	return e
}

func (c *Client) unsubscribe(types []string) {
	if c.events != nil && slices.Contains(types, ysync.DocumentUpdated) {
		c.events()
		c.events = nil
	}
}

type subdoc struct {
	Snapshot []byte `cbor:"snapshot"`
	LastSeen int64  `cbor:"last_seen"` // Unix milliseconds
}

// subdocs answers with the snapshots of those documents that this folder document lists.
func (c *Client) subdocs(ids []string) error {
	data := make(map[string]subdoc)
	o := c.room.rooms.o
	for _, id := range ids {
		own, _ := o.Relay.Own(id)
		if o.Host.ChannelOf(own) != c.room.doc.ID() {
			continue
		}
		d, err := o.Host.Open(c.socket.Context(), own, false)
		if err != nil {
			continue // it is gone
		}
		data[id] = subdoc{d.Doc().Snapshot().Encode(), time.Now().UnixMilli()}
		d.Close()
	}
	answer, err := cbor.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	c.reply(ysync.AppendSubdocs(nil, answer))
	return nil
}
