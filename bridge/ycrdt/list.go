package ycrdt

// Editing of lists by visible position: what Text and Array have in common.

// scanLimit is how many items a search by position walks from the start of a
// list before it builds a position index.
const scanLimit = 64

// locate returns the item that holds the unit before position pos, and how many
// of its units lie before pos; item 0 if pos is 0. pos is at most b.length.
func (s *store) locate(b *branch, pos int) (r ref, off int) {
	if pos == 0 {
		return 0, 0
	}
	if b.positions == nil {
		rest := pos
		r = b.start
		for range scanLimit {
			n := int(visibleUnits(&s.items[r]))
			if rest <= n {
				return r, rest
			}
			rest -= n
			if r = s.items[r].right; r == 0 {
				panic("ycrdt: position beyond the end")
			}
		}
		b.positions = newPositionIndex(s, b)
	}
	return b.positions.locate(pos)
}

// insidePair reports whether offset off of it, in units, falls between the two
// halves of a surrogate pair.
func (s *store) insidePair(it *item, off int) bool {
	if it.kind != kindString || it.ascii() || off == int(it.length) {
		return false
	}
	_, inside := utf16Offset(s.bytesOf(it), off)
	return inside
}

// deleteVisible deletes n visible units from position pos on. A surrogate pair
// that would be cut is deleted whole.
func (tx *Txn) deleteVisible(b *branch, pos, n int) {
	s := tx.store
	r, off := tx.store.locate(b, pos)
	switch {
	case r == 0:
		r = b.start
	case off == int(s.items[r].length):
		r = s.items[r].right
	case s.insidePair(&s.items[r], off):
		tx.deleteVisible(b, pos-1, n+1)
		return
	default:
		r = tx.splitItem(r, uint64(off))
	}
	tx.deleteFrom(r, n)
}

// deleteFrom deletes n visible units from the start of item r on and returns
// the item after them.
func (tx *Txn) deleteFrom(r ref, n int) ref {
	s := tx.store
	for n > 0 && r != 0 {
		it := &s.items[r]
		if visibleUnits(it) > 0 {
			if n < int(it.length) {
				if s.insidePair(it, n) {
					n++
				}
				if n < int(it.length) {
					tx.splitItem(r, uint64(n))
				}
			}
			n -= int(s.items[r].length)
			tx.deleteItem(r)
		}
		r = s.items[r].right
	}
	return r
}

// clamp returns v, or the bound of [0, limit] that it exceeds.
func clamp(v, limit int) int { return min(max(v, 0), limit) }
