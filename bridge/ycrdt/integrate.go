package ycrdt

import (
	"math"
	"slices"
)

// Integration places a new item among the children of its parent. This is the
// YATA algorithm with the refinements of Yjs 13 (Item.integrate); it gives the
// same order on every peer, whatever the order in which updates arrive.

// integrate links the new item r, whose id, origins, neighbours, parent and
// content are set, into its list and its client's history.
func (tx *Txn) integrate(r ref) {
	s := tx.store
	it := &s.items[r]
	b := s.branchOf(it)
	left := it.left
	if tx.contested(it) {
		left = tx.resolveConflict(it)
	}
	tx.link(b, r, left)
	if it.parent > 0 && it.visible() && it.kind != kindDeleted {
		b.length += int(it.length)
	}
	if b.positions != nil && it.parent > 0 {
		b.positions.insertAfter(s, left, r)
	}
	tx.append(r)
	tx.integrateContent(r, b)
	tx.markChanged(b, it.parent)
	if (b.item != 0 && s.items[b.item].deleted()) || (it.parent < 0 && it.right != 0) {
		tx.deleteItem(r) // the parent is deleted, or a newer value of the key exists
	}
}

// contested reports whether something stands between the neighbours that it
// was inserted between, so that the order must be found.
func (tx *Txn) contested(it *item) bool {
	items := tx.store.items
	if it.left == 0 {
		return it.right == 0 || items[it.right].left != 0
	}
	return items[it.left].right != it.right
}

// firstOf returns the leftmost item of the list that an item with this parent
// belongs to.
func (s *store) firstOf(parent int32) ref {
	if parent > 0 {
		return s.branches[parent].start
	}
	r := s.entries[-parent].head
	for r != 0 && s.items[r].left != 0 {
		r = s.items[r].left
	}
	return r
}

// resolveConflict returns the item after which it belongs.
//
// The scan walks the items between the left neighbour and the right origin.
// Yjs keeps two sets: those passed since the origin (itemsBeforeOrigin) and of
// these the ones passed since left last moved (conflictingItems). Here both
// are told from the ordinal of an item in the scan.
func (tx *Txn) resolveConflict(it *item) ref {
	s := tx.store
	left := it.left
	o := ref(0)
	if left != 0 {
		o = s.items[left].right
	} else {
		o = s.firstOf(it.parent)
	}
	id := s.clients[it.client].id
	s.scan.reset()
	conflicting := 0 // ordinal of the first item of conflictingItems
	for o != 0 && o != it.right {
		other := &s.items[o]
		s.scan.add(o, len(s.items))
		if other.origin == it.origin && other.originClock == it.originClock {
			if s.clients[other.client].id < id {
				left = o
				conflicting = s.scan.len()
			} else if other.rightOrigin == it.rightOrigin && other.rightClock == it.rightClock {
				break
			}
		} else {
			n, passed := s.scannedOrigin(other)
			if !passed {
				break
			}
			if n < conflicting {
				left = o
				conflicting = s.scan.len()
			}
		}
		o = other.right
	}
	return left
}

// scannedOrigin returns the ordinal of the item that holds the origin of it,
// if the scan has passed that item.
func (s *store) scannedOrigin(it *item) (ordinal int, passed bool) {
	if it.origin == 0 {
		return 0, false
	}
	from := &s.clients[it.origin]
	return s.scan.ordinal(s.findItem(from.home, from.base|uint64(it.originClock)))
}

// A conflictScan remembers the items that a conflict scan has passed. Scans
// are short unless many clients type at one place. Then a scan walks what all
// of them have typed, once for each of them, so what it does at each step must
// be cheap: it numbers the items in a table beside the slab. Scans go on
// counting where the last one ended, so that the table need not be cleared.
type conflictScan struct {
	n     int           // items passed
	first [scanList]ref // the first of them
	table []uint32      // by ref; base plus the ordinal
	base  uint32        // less is of an earlier scan
}

// scanList is how many items a conflictScan searches without the table.
const scanList = 16

// reset begins a scan.
func (c *conflictScan) reset() {
	if c.n > scanList {
		c.base += uint32(c.n)
	}
	c.n = 0
}

func (c *conflictScan) len() int { return c.n }

// add passes the item r of a slab of the given size.
func (c *conflictScan) add(r ref, slab int) {
	if c.n < scanList {
		c.first[c.n] = r
		c.n++
		return
	}
	if c.n == scanList {
		c.makeTable(slab)
	}
	c.table[r] = c.base + uint32(c.n)
	c.n++
}

// makeTable makes the table fit the slab and enters the first items.
func (c *conflictScan) makeTable(slab int) {
	if len(c.table) < slab {
		c.table = make([]uint32, slab+slab/4)
		c.base = 1
	}
	if c.base > math.MaxUint32-uint32(slab) {
		clear(c.table)
		c.base = 1
	}
	for i, r := range c.first {
		c.table[r] = c.base + uint32(i)
	}
}

// ordinal returns which item the scan passed r as, if it did.
func (c *conflictScan) ordinal(r ref) (_ int, passed bool) {
	if c.n > scanList {
		return int(c.table[r] - c.base), c.table[r] >= c.base
	}
	i := slices.Index(c.first[:c.n], r)
	return i, i >= 0
}

// link puts r after left, or first if left is 0, and makes it the value of its
// key if it comes last.
func (tx *Txn) link(b *branch, r, left ref) {
	s := tx.store
	it := &s.items[r]
	it.left = left
	switch {
	case left != 0:
		it.right = s.items[left].right
		s.items[left].right = r
	default:
		it.right = s.firstOf(it.parent)
		if it.parent > 0 {
			b.start = r
		}
	}
	if it.right != 0 {
		s.items[it.right].left = r
	} else if it.parent < 0 {
		s.entries[-it.parent].head = r
		if left != 0 {
			tx.deleteItem(left)
		}
	}
}

// append adds the struct r to the end of its client's history.
func (tx *Txn) append(r ref) {
	s := tx.store
	it := &s.items[r]
	home := s.homeOf(it)
	tx.touch(home)
	c := &s.clients[home]
	c.index.append(r, c.next)
	c.next += it.units()
}

// integrateContent does what the arrival of content means beyond its place.
func (tx *Txn) integrateContent(r ref, b *branch) {
	s := tx.store
	it := &s.items[r]
	switch it.kind {
	case kindDeleted:
		tx.deletes.add(s.idOf(it).Client, s.clockOf(it), it.units())
		it.flags |= flagDeleted
	case kindFormat:
		b.formatted = true
	case kindType:
		s.branches[it.off].item = r
	}
}

// A descent is a deleted type whose children are being deleted: first those of
// its list, then those of its keys.
type descent struct {
	branch *branch
	next   ref // in the list
	key    int // in keyOrder
}

// deleteItem marks r and, if it is a type, everything inside as deleted. The
// order, depth first, decides in which order neighbours are merged later.
func (tx *Txn) deleteItem(r ref) {
	base := len(tx.descents)
	tx.markDeleted(r)
	for len(tx.descents) > base {
		if r := tx.nextChild(&tx.descents[len(tx.descents)-1]); r != 0 {
			tx.deleteChild(r)
		} else {
			tx.descents = tx.descents[:len(tx.descents)-1]
		}
	}
}

// nextChild returns the next child that d comes to, 0 at the end.
func (tx *Txn) nextChild(d *descent) ref {
	s := tx.store
	if r := d.next; r != 0 {
		d.next = s.items[r].right
		return r
	}
	for d.key < len(d.branch.keyOrder) {
		d.key++
		if r := s.entries[d.branch.keyOrder[d.key-1]].head; r != 0 {
			return r
		}
	}
	return 0
}

// deleteChild deletes a child of a deleted type. One that was deleted before
// this transaction is not in its delete set, yet will be collected with its
// parent, so it is noted for merging.
func (tx *Txn) deleteChild(r ref) {
	s := tx.store
	it := &s.items[r]
	if !it.deleted() {
		tx.markDeleted(r)
		return
	}
	home, clock := s.homeOf(it), s.clockOf(it)
	if clock < tx.clockBefore(home) {
		tx.mergeAt = append(tx.mergeAt, unit{home, clock})
	}
}

// markDeleted marks the item r alone; the children of a type wait in tx.descents.
func (tx *Txn) markDeleted(r ref) {
	s := tx.store
	it := &s.items[r]
	if it.deleted() {
		return
	}
	b := s.branchOf(it)
	if it.parent > 0 && it.visible() {
		b.length -= int(it.length)
	}
	it.flags |= flagDeleted
	tx.garbage = tx.garbage || it.kind > kindDeleted
	if b.positions != nil && it.parent > 0 {
		b.positions.refresh(s, r)
	}
	tx.deletes.add(s.clients[it.client].id, s.clockOf(it), it.units())
	tx.markChanged(b, it.parent)
	if it.kind == kindType {
		inner := s.branches[it.off]
		tx.descents = append(tx.descents, descent{branch: inner, next: inner.start})
	}
}
