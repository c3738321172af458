package ycrdt

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/exchange"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

type Options struct {
	// ClientID is the ID under which the document writes, at most 2^53-1. Zero selects a random ID. Set it only to an
	// ID that is new in each session: two writers, or two sessions of one writer, must never share an ID.
	ClientID ClientID
}

// A Doc is a shared document: a set of named shared types. It converges with every other replica that has received the
// same updates.
type Doc struct {
	clientID atomic.Uint64

	mu      sync.Mutex       // held during a whole transaction
	store   *ytypes.Store    // protected by mu
	txn     Txn              // protected by mu
	updates exchange.Updates // protected by mu

	onUpdate func(update []byte) // protected by mu
}

func NewDoc(opts Options) *Doc {
	d := &Doc{store: ytypes.New()}
	d.txn.doc, d.txn.edit.Store = d, d.store
	d.updates = exchange.New(d.store, &d.txn.edit)
	id := opts.ClientID
	if id == 0 || id > wire.MaxInt {
		id = d.freshClientID()
	}
	d.clientID.Store(uint64(id))
	return d
}

// Size estimates the memory that the document uses, in bytes: the text, the identity of each character that it has ever
// had, and reserved capacity.
func (d *Doc) Size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	const leaf = 4 // bytes of the position index per item
	return cap(d.store.Items)*(int(reflect.TypeFor[structs.Item]().Size())+leaf) + d.store.Arena.Cap()
}

// ClientID returns the ID under which the document writes. The document selects a new random ID when it receives an
// update by another writer with the same ID.
func (d *Doc) ClientID() ClientID { return ClientID(d.clientID.Load()) }

// SetClientID sets the ID under which the document writes. Only one writer may ever use an ID, but it may set the ID
// again after it has applied its own updates. If a hostile update has used up the ID's clocks, the document selects
// another ID.
func (d *Doc) SetClientID(id ClientID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store.State(id) > wire.MaxClock/2 {
		id = d.freshClientID()
	}
	d.clientID.Store(uint64(id))
}

func (d *Doc) freshClientID() ClientID {
	for {
		id := ClientID(rand.Uint32())
		if id != 0 && d.store.LookupClient(id) == 0 {
			return id
		}
	}
}

// renewClientID selects a new client ID if another writer has used the ID of this document.
func (d *Doc) renewClientID() {
	for _, home := range d.txn.edit.Touched {
		if d.store.Clients[home].ID == d.ClientID() {
			d.clientID.Store(uint64(d.freshClientID()))
			return
		}
	}
}

// Transact runs fn as one transaction: other goroutines and peers see either all of its changes or none.
//
// fn must use the Txn for all reads and writes of the document (methods ending in "In" read). A method that takes no
// Txn may wait forever for the transaction to end. Transactions do not nest.
func (d *Doc) Transact(fn func(*Txn)) {
	d.mu.Lock()
	d.txn.begin(true)
	defer d.mu.Unlock()
	defer d.finish() // if fn panics, its changes stay
	fn(&d.txn)
}

func (d *Doc) finish() {
	tx := &d.txn
	defer tx.end()
	tx.edit.Commit() // needed even without changes, because an update that the document already has may split items
	if tx.edit.Empty() {
		return
	}
	if !tx.local {
		d.renewClientID()
	}
	if d.onUpdate != nil {
		d.onUpdate(exchange.EncodeTransaction(&tx.edit))
	}
}

// OnUpdate makes the document call fn at the end of every transaction that changes it, instead of the function of an
// earlier call. nil ends this. update has the change in format V1. The document is locked during the call, so fn must
// not use it.
func (d *Doc) OnUpdate(fn func(update []byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onUpdate = fn
}

// Text returns the text called name at the root of the document. A root exists once it has had content.
func (d *Doc) Text(name string) *Text { return &Text{handle: handle{doc: d, name: name}} }

func (d *Doc) Map(name string) *Map { return &Map{handle: handle{doc: d, name: name}} }

func (d *Doc) Array(name string) *Array { return &Array{handle: handle{doc: d, name: name}} }

// StateVector returns the next expected clock of each client.
func (d *Doc) StateVector() StateVector {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.StateVector()
}

func (d *Doc) EncodeStateVector() []byte { return d.StateVector().Encode() }
