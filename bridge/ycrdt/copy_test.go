package ycrdt

import "testing"

// copySnapshot returns the snapshot of a document that is made from the state
// of d, if nothing waits in d. Yjs's copies have the same. It is that of d
// itself, but for what no API makes and an update may hold:
//
//   - A torn value (see checker.torn) is overwritten, but not deleted. The copy
//     gets its parts as items of their own, so that each deletes the one before.
//   - An item may name neighbours in two types, and belongs to that of its left
//     one. When the other type is deleted, the neighbour becomes a GC struct.
//     In the copy the item finds that where its neighbour should be, and
//     becomes one, too; and so does what refers to the item.
func copySnapshot(d *Doc) *Snapshot {
	snap, s := d.Snapshot(), d.store
	lost := make([]bool, len(s.items))
	for changed := true; changed; {
		changed = false
		for r := range s.items {
			if !lost[r] && s.losesNeighbour(&s.items[r], lost) {
				lost[r], changed = true, true
			}
		}
	}
	for r := range s.items {
		it := &s.items[r]
		overwritten := it.parent < 0 && it.right != 0
		if !it.deleted() && (lost[r] || overwritten) {
			id := s.idOf(it)
			snap.deletes = append(snap.deletes, idRange{id.Client, id.Clock, it.units()})
		}
	}
	snap.deletes.normalize()
	return snap
}

// losesNeighbour reports whether it, in a copy, becomes a GC struct: it is one
// already, or one of those that its encoding names is among lost.
func (s *store) losesNeighbour(it *item, lost []bool) bool {
	if it.kind == kindFree || it.client == 0 {
		return false // no struct
	}
	if it.kind == kindGC {
		return true
	}
	holder := func(client, clock uint32) ref {
		c := &s.clients[client]
		return s.findItem(c.home, c.base|uint64(clock))
	}
	if it.origin == 0 && it.rightOrigin == 0 {
		parent := s.branchOf(it).item
		return parent != 0 && lost[parent]
	}
	return it.origin != 0 && lost[holder(it.origin, it.originClock)] ||
		it.rightOrigin != 0 && lost[holder(it.rightOrigin, it.rightClock)]
}

// hasTornValue reports whether a key of d has an overwritten value that is not
// deleted; see checker.torn.
func hasTornValue(d *Doc) bool {
	s := d.store
	for r := range s.items {
		if it := &s.items[r]; it.parent < 0 && it.right != 0 && !it.deleted() {
			return true
		}
	}
	return false
}

// checkCopy makes a copy of d from its state.
func checkCopy(t *testing.T, d *Doc) {
	t.Helper()
	other := NewDoc(Options{ClientID: 2})
	apply(t, other, d.EncodeStateAsUpdate(nil))
	verify(t, other)
	if got, want := other.Snapshot(), copySnapshot(d); !got.Equal(want) {
		t.Errorf("a copy has snapshot %x, want %x", got.Encode(), want.Encode())
	}
}
