package ycrdt

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// copySnapshot returns the snapshot of a document that is made from the state of d, if nothing waits in d. Yjs's copies have
// the same. It is that of d itself, except for what no API makes and an update may hold:
//
//   - A torn value (see package ytypes, checker.torn) is overwritten, but not deleted. The copy
//     gets its parts as items of their own, so that each deletes the one before.
//   - An item may name neighbours in two types, and belongs to that of its left
//     one. When the other type is deleted, the neighbour becomes a GC struct.
//     In the copy the item finds that where its neighbour should be, and
//     becomes one, too; and so does what refers to the item.
func copySnapshot(d *Doc) *Snapshot {
	snap, s := d.Snapshot(), d.store
	lost := make([]bool, len(s.Items))
	for changed := true; changed; {
		changed = false
		for r := range s.Items {
			if !lost[r] && losesNeighbour(s, &s.Items[r], lost) {
				lost[r], changed = true, true
			}
		}
	}
	for r := range s.Items {
		it := &s.Items[r]
		overwritten := it.Parent < 0 && it.Right != 0
		if !it.Deleted() && (lost[r] || overwritten) {
			id := s.IDOf(it)
			snap.deletes = append(snap.deletes, wire.Range{Client: id.Client, Clock: id.Clock, Length: it.Units()})
		}
	}
	snap.deletes.Normalize()
	return snap
}

// losesNeighbour reports whether it, in a copy, becomes a GC struct: it is one
// already, or one of those that its encoding names is among lost.
func losesNeighbour(s *ytypes.Store, it *structs.Item, lost []bool) bool {
	if it.Kind == structs.KindFree || it.Client == 0 {
		return false // no struct
	}
	if it.Kind == wire.KindGC {
		return true
	}
	holder := func(client, clock uint32) structs.Ref {
		return s.FindItem(client, uint64(clock))
	}
	if it.Origin == 0 && it.RightOrigin == 0 {
		parent := s.BranchOf(it).Item
		return parent != 0 && lost[parent]
	}
	return it.Origin != 0 && lost[holder(it.Origin, it.OriginClock)] ||
		it.RightOrigin != 0 && lost[holder(it.RightOrigin, it.RightClock)]
}

// hasTornValue reports whether a key of d has an overwritten value that is not deleted; see package ytypes, checker.torn.
func hasTornValue(d *Doc) bool {
	s := d.store
	for r := range s.Items {
		if it := &s.Items[r]; it.Parent < 0 && it.Right != 0 && !it.Deleted() {
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
