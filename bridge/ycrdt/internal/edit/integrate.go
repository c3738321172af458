package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Integration places a new item among the children of its parent. This is the YATA algorithm with the refinements of
// Yjs 13 (Item.integrate). It gives the same order on every peer, independent of the order in which updates arrive.

// Integrate links the new item r into its list and its client's history. The caller has set the ID, origins,
// neighbours, parent and content of r.
func (tx *Txn) Integrate(r structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	b := s.BranchOf(it)
	left := it.Left
	if tx.contested(it) {
		left = tx.resolveConflict(it)
		if it.Parent < 0 && s.Entries[-it.Parent].Head != 0 { // the writer did not have the key's value
			s.Entries[-it.Parent].Conflict = s.Epoch
		}
	}
	tx.link(b, r, left)
	if it.Parent > 0 && it.Visible() && it.Kind != wire.KindDeleted {
		b.Length += int(it.Length)
	}
	if b.Positions != nil && it.Parent > 0 {
		b.Positions.InsertAfter(&s.Slab, left, r)
	}
	tx.Append(r)
	tx.integrateContent(r)
	tx.MarkChanged(b)
	if (b.Item != 0 && s.Items[b.Item].Deleted()) || (it.Parent < 0 && it.Right != 0) {
		tx.DeleteItem(r) // the parent is deleted, or a newer value of the key exists
	}
}

// contested reports whether the list has other items between the two items that were an item's neighbours at its
// insertion. If so, the order must be computed.
func (tx *Txn) contested(it *structs.Item) bool {
	items := tx.Store.Items
	if it.Left == 0 {
		return it.Right == 0 || items[it.Right].Left != 0
	}
	return items[it.Left].Right != it.Right
}

// resolveConflict returns the left neighbour of a new item.
//
// The scan walks the items between the left neighbour and the right origin. Yjs keeps two sets: the items passed since
// the origin (itemsBeforeOrigin) and the items passed since left was last moved (conflictingItems). Here the ordinal of
// an item in the scan shows whether the item is in each set.
func (tx *Txn) resolveConflict(it *structs.Item) structs.Ref {
	s := tx.Store
	left := it.Left
	first := structs.Ref(0)
	if left != 0 {
		first = s.Items[left].Right
	} else {
		first = s.FirstOf(it.Parent)
	}
	id := s.Clients[it.Client].ID
	count := 0                      // number of items that the scan has passed
	var scanned map[structs.Ref]int // their ordinals; nil until needed, because a scan may pass very many items
	conflicting := 0                // ordinal of the first item of conflictingItems
	for o := first; o != 0 && o != it.Right; o = s.Items[o].Right {
		other := &s.Items[o]
		if scanned != nil {
			scanned[o] = count
		}
		count++
		if other.Origin == it.Origin && other.OriginClock == it.OriginClock {
			if s.Clients[other.Client].ID < id {
				left = o
				conflicting = count
			} else if other.RightOrigin == it.RightOrigin && other.RightClock == it.RightClock {
				break
			}
		} else {
			if other.Origin == 0 {
				break
			}
			if scanned == nil {
				scanned = tx.ordinals(first, o)
			}
			n, passed := scanned[s.FindItem(other.Origin, uint64(other.OriginClock))]
			if !passed {
				break
			}
			if n < conflicting {
				left = o
				conflicting = count
			}
		}
	}
	return left
}

// ordinals numbers the items of a list from first to last.
func (tx *Txn) ordinals(first, last structs.Ref) map[structs.Ref]int {
	numbers := make(map[structs.Ref]int)
	for r := first; ; r = tx.Store.Items[r].Right {
		numbers[r] = len(numbers)
		if r == last {
			return numbers
		}
	}
}

// link puts r after left, or first if left is 0. If r is the last item of its key, it becomes the value of the key.
func (tx *Txn) link(b *ytypes.Branch, r, left structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	it.Left = left
	switch {
	case left != 0:
		it.Right = s.Items[left].Right
		s.Items[left].Right = r
	default:
		it.Right = s.FirstOf(it.Parent)
		if it.Parent > 0 {
			b.Start = r
		}
	}
	if it.Right != 0 {
		s.Items[it.Right].Left = r
	} else if it.Parent < 0 {
		s.Entries[-it.Parent].Head = r
		if left != 0 {
			tx.DeleteItem(left)
		}
	}
}

func (tx *Txn) Append(r structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	home := it.Client
	tx.Touch(home)
	c := &s.Clients[home]
	c.Index.Append(r, c.Next)
	c.Next += it.Units()
}

// integrateContent applies the side effects of the content of a new item.
func (tx *Txn) integrateContent(r structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	switch it.Kind {
	case wire.KindDeleted:
		tx.Deletes.Add(s.IDOf(it).Client, it.From(), it.Units())
		it.Flags |= structs.FlagDeleted
	case wire.KindType:
		s.Branches[it.Off].Item = r
	}
}

// A descent is a deleted type whose children are being deleted: first the children of its list, then the children of
// its keys.
type descent struct {
	branch *ytypes.Branch
	next   structs.Ref // next child of the list
	key    int         // index in KeyOrder
}

// DeleteItem marks r as deleted and, if it is a type, everything in it. It works depth first, because this order
// determines the order of later merges of neighbours.
func (tx *Txn) DeleteItem(r structs.Ref) {
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

func (tx *Txn) nextChild(d *descent) structs.Ref {
	s := tx.Store
	if r := d.next; r != 0 {
		d.next = s.Items[r].Right
		return r
	}
	for d.key < len(d.branch.KeyOrder) {
		d.key++
		if r := s.Entries[d.branch.KeyOrder[d.key-1]].Head; r != 0 {
			return r
		}
	}
	return 0
}

// deleteChild deletes a child of a deleted type. A child that was deleted before this transaction is not in the
// transaction's delete set, but will be collected with its parent. So deleteChild records it for merging.
func (tx *Txn) deleteChild(r structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	if !it.Deleted() {
		tx.markDeleted(r)
		return
	}
	home, clock := it.Client, it.From()
	if clock < tx.clockBefore(home) {
		tx.mergeAt = append(tx.mergeAt, unit{home, clock})
	}
}

// markDeleted marks only the item r and queues the children of a type in tx.descents.
func (tx *Txn) markDeleted(r structs.Ref) {
	s := tx.Store
	it := &s.Items[r]
	if it.Deleted() {
		return
	}
	b := s.BranchOf(it)
	if it.Parent > 0 && it.Visible() {
		b.Length -= int(it.Length)
	}
	it.Flags |= structs.FlagDeleted
	tx.garbage = tx.garbage || it.Kind > wire.KindDeleted
	if b.Positions != nil && it.Parent > 0 {
		b.Positions.Refresh(&s.Slab, r)
	}
	tx.Deletes.Add(s.Clients[it.Client].ID, it.From(), it.Units())
	tx.MarkChanged(b)
	if it.Kind == wire.KindType {
		inner := s.Branches[it.Off]
		tx.descents = append(tx.descents, descent{branch: inner, next: inner.Start})
	}
}

// NewLocal returns a new item of the transaction's client between left and right, without content and not integrated.
func (tx *Txn) NewLocal(left, right structs.Ref, parent int32, kind uint8) structs.Ref {
	s := tx.Store
	home := s.AddClient(tx.Client)
	r := s.NewItem()
	it := &s.Items[r]
	it.Client, it.Clock = home, uint32(s.Clients[home].Next)
	it.Left, it.Right, it.Parent, it.Kind = left, right, parent, kind
	if left != 0 {
		l := &s.Items[left]
		it.Origin, it.OriginClock = l.Client, uint32(l.End()-1)
	}
	if right != 0 {
		r := &s.Items[right]
		it.RightOrigin, it.RightClock = r.Client, r.Clock
	}
	return r
}

func (tx *Txn) InsertContent(kind uint8, content []byte, n int, left, right structs.Ref, parent int32) structs.Ref {
	s := tx.Store
	r := tx.NewLocal(left, right, parent, kind)
	it := &s.Items[r]
	it.Off, it.Size = s.Arena.Put(content)
	it.Length = uint32(n)
	tx.Integrate(r)
	return r
}
