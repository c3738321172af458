package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/relay/host"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// handle does what a frame asks for. An error ends the connection.
func (c *conn) handle(ctx context.Context, data []byte) error {
	f, err := ysync.Decode(data)
	switch {
	case errors.Is(err, ysync.ErrUnknownType):
		return nil
	case err != nil:
		return errMalformed
	}
	switch f.Type {
	case ysync.Sync:
		return c.sync(ctx, f)
	case ysync.AwarenessState:
		if err := c.room.awareness.Apply(f.Payload, c); errors.Is(err, ysync.ErrMalformed) {
			return errMalformed
		}
	case ysync.QueryAwareness:
		c.queue(ysync.AppendAwareness(nil, c.room.awareness.EncodeAll()))
	case ysync.Echo:
		c.queue(ysync.AppendEcho(nil, f.Payload))
	case ysync.Subscribe:
		c.subscribe(f.Names)
	case ysync.Unsubscribe:
		c.unsubscribe(f.Names)
	case ysync.QuerySubdocs:
		return c.subdocs(ctx, f.Names)
	}
	return nil
}

func (c *conn) sync(ctx context.Context, f ysync.Frame) error {
	doc := c.room.doc
	switch {
	case f.Step == ysync.Step1:
		if _, err := ycrdt.DecodeStateVector(f.Payload); err != nil {
			return errMalformed
		}
		c.queue(ysync.AppendStep2(nil, doc.Doc().EncodeStateAsUpdate(f.Payload)))
		return nil
	case !c.full:
		if !isEmpty(f.Payload) {
			c.deny("this connection may only read")
		}
		return nil
	case isEmpty(f.Payload):
		return nil
	}
	err := doc.Apply(ctx, f.Payload, host.Origin{User: c.claims.User, Sender: c})
	if end := endOf(err); end != nil {
		c.s.log.Warn("connection ended by an update", bridge.LogDoc, doc.ID(), bridge.LogErr, err)
		return end
	}
	if err != nil {
		c.deny(err.Error())
	}
	return nil
}

// isEmpty says whether an update is the one that changes nothing: what a client
// without anything new answers a step 1 with.
func isEmpty(update []byte) bool { return len(update) == 2 && update[0] == 0 && update[1] == 0 }

// deny tells the client, once, that what it writes is not taken.
func (c *conn) deny(reason string) {
	if !c.denied {
		c.denied = true
		c.queue(ysync.AppendPermissionDenied(nil, reason))
	}
}

// event is relay-server's account of a change.
type event struct {
	ID        string   `cbor:"event_id"`
	Type      string   `cbor:"event_type"`
	Document  string   `cbor:"doc_id"`
	Timestamp int64    `cbor:"timestamp"` // Unix milliseconds
	User      string   `cbor:"user,omitempty"`
	Update    []uint16 `cbor:"update,omitempty"` // bytes, as an array of integers
}

// maxEventUpdate is the size in bytes above which an event does not carry its
// update: who wants it asks for the difference.
const maxEventUpdate = 64 << 10

// subscribe sends events about the documents of this folder document from now on.
func (c *conn) subscribe(types []string) {
	if c.events != nil || !slices.Contains(types, ysync.DocumentUpdated) {
		return
	}
	c.events = c.s.host.Subscribe(c.room.doc.ID(), func(ev host.Event) {
		data, err := cbor.Marshal(newEvent(ev))
		if err == nil {
			c.queue(ysync.AppendEvent(nil, data))
		}
	})
}

func newEvent(ev host.Event) event {
	e := event{
		ID: randomID(), Type: ysync.DocumentUpdated, Document: ev.Document, Timestamp: time.Now().UnixMilli(), User: ev.User,
	}
	if len(ev.Update) <= maxEventUpdate {
		for _, b := range ev.Update {
			e.Update = append(e.Update, uint16(b)) // []byte would become a byte string
		}
	}
	return e
}

func (c *conn) unsubscribe(types []string) {
	if c.events != nil && slices.Contains(types, ysync.DocumentUpdated) {
		c.events()
		c.events = nil
	}
}

// subdoc is what a folder document's connection is told of one of its documents.
type subdoc struct {
	Snapshot []byte `cbor:"snapshot"`
	LastSeen int64  `cbor:"last_seen"` // Unix milliseconds
}

// subdocs answers with the snapshots of those of the documents that this folder
// document lists.
func (c *conn) subdocs(ctx context.Context, ids []string) error {
	data := make(map[string]subdoc)
	for _, id := range ids {
		if c.s.host.ChannelOf(id) != c.room.doc.ID() {
			continue
		}
		d, err := c.s.host.Open(ctx, id, false)
		if err != nil {
			continue // it has gone meanwhile
		}
		data[id] = subdoc{d.Doc().Snapshot().Encode(), time.Now().UnixMilli()}
		d.Close()
	}
	answer, err := cbor.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	c.queue(ysync.AppendSubdocs(nil, answer))
	return nil
}
