package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A Txn is a running transaction on a store: it inserts and deletes items, and
// notes what has to be done at the end. It is used again for the next one.
type Txn struct {
	Store  *ytypes.Store
	Client wire.ClientID // under which it writes
	Scan   ConflictScan

	epoch    uint64
	Touched  []uint32       // clients whose clock has advanced
	Deletes  wire.DeleteSet // what was deleted, in the order of deletion
	garbage  bool           // whether some of that has content that must go
	mergeAt  []unit         // where neighbours may merge: Yjs's _mergeStructs
	changed  []*ytypes.Branch
	descents []descent // deleted types whose children are still to be deleted
}

// Begin starts the next transaction, which writes as client.
func (tx *Txn) Begin(client wire.ClientID) {
	tx.Client = client
	tx.epoch++
	tx.garbage = false
	tx.Store.Epoch = tx.epoch
}

// A unit is an ID with the client as index into the client table.
type unit struct {
	home  uint32
	clock uint64
}

// maxScratch is how many elements of each working list a document keeps from one transaction to the next.
const maxScratch = 32

// End forgets the working lists of tx. Those of a large transaction, such as loading, are not kept.
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

// Touch notes that the clock of the client advances.
func (tx *Txn) Touch(home uint32) {
	c := &tx.Store.Clients[home]
	if c.Epoch == tx.epoch {
		return
	}
	c.Epoch, c.Before = tx.epoch, c.Next
	tx.Touched = append(tx.Touched, home)
}

// clockBefore returns the client's next clock at the start of the transaction.
func (tx *Txn) clockBefore(home uint32) uint64 {
	c := &tx.Store.Clients[home]
	if c.Epoch == tx.epoch {
		return c.Before
	}
	return c.Next
}

// MarkChanged notes that b has changed.
func (tx *Txn) MarkChanged(b *ytypes.Branch) {
	if b.Changed != tx.epoch {
		b.Changed = tx.epoch
		tx.changed = append(tx.changed, b)
	}
}

// Empty reports whether nothing has changed.
func (tx *Txn) Empty() bool { return len(tx.Touched) == 0 && len(tx.Deletes) == 0 }
