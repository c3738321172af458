package ycrdt

// A Txn is a running transaction. It is what gives the right to change the
// document and to read what it has changed, and is valid only until the
// function that received it returns. Only that function's goroutine may use it.
type Txn struct {
	doc    *Doc
	store  *store
	origin any
	local  bool
	open   bool

	epoch    uint64
	touched  []uint32  // clients whose clock has advanced
	deletes  deleteSet // what was deleted, in the order of deletion
	garbage  bool      // whether some of that has content that must go
	mergeAt  []unit    // where neighbours may merge: Yjs's _mergeStructs
	changed  []*branch
	descents []descent // deleted types whose children are still to be deleted
}

// A unit is an ID with the client as index into the client table.
type unit struct {
	home  uint32
	clock uint64
}

// begin makes tx the transaction that runs now.
func (tx *Txn) begin(origin any, local bool) {
	tx.origin, tx.local, tx.open = origin, local, true
	tx.epoch++
	tx.garbage = false
	tx.store.epoch = tx.epoch
}

// maxScratch is how many elements of each working list a document keeps from
// one transaction to the next.
const maxScratch = 32

// end forgets the working lists of tx. Those of a large transaction, such as
// loading, are not kept.
func (tx *Txn) end() {
	tx.open, tx.origin = false, nil
	tx.touched = reuse(tx.touched)
	tx.deletes = reuse(tx.deletes)
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

// touch notes that the clock of the client advances.
func (tx *Txn) touch(home uint32) {
	c := &tx.store.clients[home]
	if c.epoch == tx.epoch {
		return
	}
	c.epoch, c.before = tx.epoch, c.next
	tx.touched = append(tx.touched, home)
}

// clockBefore returns the client's next clock at the start of the transaction.
func (tx *Txn) clockBefore(home uint32) uint64 {
	c := &tx.store.clients[home]
	if c.epoch == tx.epoch {
		return c.before
	}
	return c.next
}

// markChanged notes that a list (parent > 0) or a key (parent < 0) of b has changed.
func (tx *Txn) markChanged(b *branch, parent int32) {
	if b.changed != tx.epoch {
		b.changed = tx.epoch
		b.change = nil
		tx.changed = append(tx.changed, b)
	}
	if b.observers.len() > 0 && tx.existedBefore(b) {
		b.noteChange(parent)
	}
}

// existedBefore reports whether b is older than the transaction and alive; a
// type that is added or deleted as a whole has no events of its own.
func (tx *Txn) existedBefore(b *branch) bool {
	if b.item == 0 {
		return true
	}
	it := &tx.store.items[b.item]
	return !it.deleted() && tx.store.clockOf(it) < tx.clockBefore(tx.store.homeOf(it))
}

// use panics unless tx is the running transaction of doc: anything else would
// be a data race that corrupts the document.
func (tx *Txn) use(doc *Doc) {
	if tx == nil || tx.doc != doc || !tx.open {
		panic("ycrdt: use of a Txn outside of its transaction or document")
	}
}
