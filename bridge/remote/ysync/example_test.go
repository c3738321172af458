package ysync_test

import (
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A peer is one end of a connection: a document, what it knows of who is there,
// and a way to send a frame to the other end.
type peer struct {
	doc       *ycrdt.Doc
	awareness *ysync.Awareness
	send      func(frame []byte)
}

func newPeer(id ycrdt.ClientID) *peer {
	return &peer{doc: ycrdt.NewDoc(ycrdt.Options{ClientID: id}), awareness: ysync.NewAwareness(id)}
}

// open sends what a connection begins with, and what changes from then on.
func (p *peer) open() {
	p.send(ysync.AppendStep1(nil, p.doc.EncodeStateVector()))
	p.send(ysync.AppendAwareness(nil, p.awareness.EncodeAll()))
	p.doc.OnUpdate(func(update []byte, origin any) {
		if origin != p { // the other end has what came from there
			p.send(ysync.AppendUpdate(nil, update))
		}
	})
	p.awareness.OnUpdate(func(e ysync.AwarenessEvent) {
		if e.Origin != p {
			p.send(ysync.AppendAwareness(nil, p.awareness.Encode(e.Clients()...)))
		}
	})
}

// receive deals with a frame of the other end.
func (p *peer) receive(frame []byte) error {
	f, err := ysync.Decode(frame)
	if errors.Is(err, ysync.ErrUnknownType) {
		return nil
	}
	if err != nil {
		return err
	}
	switch f.Type {
	case ysync.Sync:
		reply, err := f.Apply(p.doc, p)
		if reply != nil {
			p.send(reply)
		}
		return err
	case ysync.AwarenessState:
		return p.awareness.Apply(f.Payload, p)
	case ysync.QueryAwareness:
		p.send(ysync.AppendAwareness(nil, p.awareness.EncodeAll()))
	case ysync.Echo:
		p.send(ysync.AppendEcho(nil, f.Payload))
	}
	return nil
}

// Two peers connect, each with something to tell.
func Example() {
	a, b := newPeer(1), newPeer(2)
	connect := func(from, to *peer) {
		from.send = func(frame []byte) {
			if err := to.receive(frame); err != nil {
				fmt.Println(err)
			}
		}
	}
	connect(a, b)
	connect(b, a)
	a.doc.Transact(nil, func(tx *ycrdt.Txn) { a.doc.Text("contents").Insert(tx, 0, "from a") })
	b.awareness.SetLocal(map[string]any{"user": map[string]any{"name": "Bea"}})

	a.open()
	b.open()
	b.doc.Transact(nil, func(tx *ycrdt.Txn) { b.doc.Text("contents").Insert(tx, 6, " and b") })
	fmt.Println(a.doc.Text("contents"))
	for id, state := range a.awareness.States() {
		fmt.Printf("client %d: %s\n", id, state)
	}
	// Output:
	// from a and b
	// client 2: {"user":{"name":"Bea"}}
}
