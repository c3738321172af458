package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

func UnitOf(tx *Txn, b *ytypes.Branch, id wire.ID) (r structs.Ref, ok bool) {
	s := tx.Store
	home := s.LookupClient(id.Client)
	if home == 0 || id.Clock >= s.Clients[home].Next {
		return 0, false
	}
	r = s.FindItem(home, id.Clock)
	it := &s.Items[r]
	return r, it.Kind != wire.KindGC && it.Parent == b.Index
}

// Gap returns the items on either side of position pos. If pos is inside an item, Gap splits the item; if pos is inside
// a surrogate pair, it first moves before the pair.
func Gap(tx *Txn, b *ytypes.Branch, pos int) (left, right structs.Ref) {
	left, off := tx.Store.Locate(b, pos)
	if left != 0 && tx.Store.Arena.InsidePair(&tx.Store.Items[left], off) {
		left, off = tx.Store.Locate(b, pos-1)
	}
	if left == 0 {
		return 0, b.Start
	}
	if off < int(tx.Store.Items[left].Length) {
		tx.SplitItem(left, uint64(off))
	}
	return left, tx.Store.Items[left].Right
}

func InsertText(tx *Txn, b *ytypes.Branch, left, right structs.Ref, text string) {
	s := tx.Store
	if extend(tx, b, left, right, text) {
		return
	}
	r := tx.NewLocal(left, right, b.Index, wire.KindString)
	it := &s.Items[r]
	it.Off, it.Size = s.Arena.PutString(text)
	it.Length = uint32(lib0.UTF16Len([]byte(text)))
	tx.Integrate(r)
}

// extend appends text to the item left if the commit would merge a new item for text into left anyway. It reports
// whether it has done so.
func extend(tx *Txn, b *ytypes.Branch, left, right structs.Ref, text string) bool {
	if left == 0 {
		return false
	}
	s := tx.Store
	it := &s.Items[left]
	home := it.Client
	c := &s.Clients[home]
	if it.Kind != wire.KindString || it.Deleted() || c.ID != tx.Client || it.End() != c.Next {
		return false
	}
	if right == 0 && it.RightOrigin != 0 {
		return false
	}
	if right != 0 {
		if next := &s.Items[right]; next.Client != it.RightOrigin || next.Clock != it.RightClock {
			return false
		}
	}
	if b.Item != 0 && s.Items[b.Item].Deleted() {
		return false
	}
	n := uint32(lib0.UTF16Len([]byte(text)))
	tx.Touch(home)
	c.Next += uint64(n)
	s.Arena.AppendText(it, text)
	it.Length += n
	b.Length += int(n)
	if b.Positions != nil {
		b.Positions.Grow(&s.Slab, left, n)
	}
	tx.MarkChanged(b)
	return true
}
