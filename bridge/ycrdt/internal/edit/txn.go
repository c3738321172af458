package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A Txn is a running transaction on a store: it inserts and deletes items, and records the work for the commit. The
// document reuses it for the next transaction.
type Txn struct {
	Store  *ytypes.Store
	Client wire.ClientID // client of new items

	epoch    uint64
	Touched  []uint32       // clients whose clock has advanced
	Deletes  wire.DeleteSet // deleted ranges, in the order of deletion
	garbage  bool           // whether deleted items have content to drop
	mergeAt  []unit         // where neighbours may merge; _mergeStructs in Yjs
	changed  []*ytypes.Branch
	descents []descent // deleted types whose children are still to be deleted
}

func (tx *Txn) Begin(client wire.ClientID) {
	tx.Client = client
	tx.epoch++
	tx.garbage = false
	tx.Store.Epoch = tx.epoch
}

// A unit is an ID in which the client is an index of the client table.
type unit struct {
	home  uint32
	clock uint64
}

// maxScratch is the maximum number of elements of each working list that a document keeps between transactions.
const maxScratch = 32

// End clears the working lists of tx. After a large transaction, such as loading, it drops them.
func (tx *Txn) End() {
	tx.Touched = reuse(tx.Touched)
	tx.Deletes = reuse(tx.Deletes)
	tx.mergeAt = reuse(tx.mergeAt)
	tx.descents = reuse(tx.descents)
	clear(tx.changed)
	tx.changed = reuse(tx.changed)
}

func reuse[S ~[]E, E any](list S) S {
	if cap(list) > maxScratch {
		return nil
	}
	return list[:0]
}

func (tx *Txn) Touch(home uint32) {
	c := &tx.Store.Clients[home]
	if c.Epoch == tx.epoch {
		return
	}
	c.Epoch, c.Before = tx.epoch, c.Next
	tx.Touched = append(tx.Touched, home)
}

func (tx *Txn) clockBefore(home uint32) uint64 {
	c := &tx.Store.Clients[home]
	if c.Epoch == tx.epoch {
		return c.Before
	}
	return c.Next
}

func (tx *Txn) MarkChanged(b *ytypes.Branch) {
	if b.Changed != tx.epoch {
		b.Changed = tx.epoch
		tx.changed = append(tx.changed, b)
	}
}

func (tx *Txn) Empty() bool { return len(tx.Touched) == 0 && len(tx.Deletes) == 0 }
