package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
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

// maxScratch is how many elements of each working list a document keeps from
// one transaction to the next.
const maxScratch = 32

// End forgets the working lists of tx. Those of a large transaction, such as
// loading, are not kept.
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

// MarkChanged notes that a list (parent > 0) or a key (parent < 0) of b has changed.
func (tx *Txn) MarkChanged(b *ytypes.Branch, parent int32) {
	if b.Changed != tx.epoch {
		b.Changed = tx.epoch
		b.Change = nil
		tx.changed = append(tx.changed, b)
	}
	if len(b.Observers) > 0 && tx.existedBefore(b) {
		b.NoteChange(parent)
	}
}

// existedBefore reports whether b is older than the transaction and alive; a
// type that is added or deleted as a whole has no events of its own.
func (tx *Txn) existedBefore(b *ytypes.Branch) bool {
	if b.Item == 0 {
		return true
	}
	it := &tx.Store.Items[b.Item]
	return !it.Deleted() && tx.Store.ClockOf(it) < tx.clockBefore(tx.Store.HomeOf(it))
}

// Empty reports whether nothing has changed.
func (tx *Txn) Empty() bool { return len(tx.Touched) == 0 && len(tx.Deletes) == 0 }

// Events prepares the calls of all observers. It runs before commit,
// when deleted content is still there, and needs tx.deletes to be normal.
func (tx *Txn) Events() (calls []func()) {
	for _, b := range tx.changed {
		if b.Change == nil || !tx.existedBefore(b) {
			continue
		}
		for _, o := range b.Observers {
			if call := o.Event(b); call != nil {
				calls = append(calls, call)
			}
		}
		b.Change = nil
	}
	return calls
}

// Adds reports whether it, or its part from the returned unit on, is new in tx.
func (tx *Txn) Adds(it *structs.Item) (from uint64, adds bool) {
	s := tx.Store
	before := tx.clockBefore(s.HomeOf(it))
	clock := s.ClockOf(it)
	if s.EndOf(it) <= before {
		return 0, false
	}
	return max(before, clock) - clock, true
}

// Removes reports whether tx deleted it.
func (tx *Txn) Removes(it *structs.Item) bool {
	id := tx.Store.IDOf(it)
	return tx.Deletes.Contains(id.Client, id.Clock)
}
