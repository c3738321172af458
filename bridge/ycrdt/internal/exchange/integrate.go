package exchange

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// integrateStruct integrates the struct w without its first offset units. home is the index of the client of w. The
// store must already have those units and all units to which w refers.
func (p *planner) integrateStruct(w *wire.Struct, home uint32, offset uint64) {
	tx, s := p.tx, p.store
	var left, right structs.Ref
	if w.Info&wire.InfoOrigin != 0 {
		left = p.leftOf(w, home)
	}
	if w.Info&wire.InfoRight != 0 {
		right = p.rightOf(w, left)
	}
	parent := p.parentOf(w, left, right)
	if offset > 0 && parent != 0 {
		left = tx.ItemEnding(home, w.ID.Clock+offset-1)
		parent = s.Items[left].Parent // 0 if left is a GC struct
	}
	r := s.NewItem()
	it := &s.Items[r]
	it.Client, it.Clock = home, uint32(w.ID.Clock+offset)
	if parent == 0 {
		it.Kind, it.Flags = wire.KindGC, structs.FlagDeleted
		it.Length = uint32(w.Length - offset)
		tx.Append(r)
		return
	}
	it.Left, it.Right, it.Parent, it.Kind = left, right, parent, w.Kind()
	p.setOrigins(it, w, home, offset)
	setContent(s, it, w, p.data, offset)
	tx.Integrate(r)
}

// leftOf returns the item that ends with the left origin of w. This is often the client's last item.
func (p *planner) leftOf(w *wire.Struct, home uint32) structs.Ref {
	x := &p.store.Clients[home].Index
	if w.Origin.Clock+1 == w.ID.Clock && w.Origin.Client == w.ID.Client && p.store.Clients[home].Next == w.ID.Clock {
		return x.Last()
	}
	return p.tx.ItemEnding(p.store.LookupClient(w.Origin.Client), w.Origin.Clock)
}

// rightOf returns the item that starts with the right origin of w. This is usually the item after left.
func (p *planner) rightOf(w *wire.Struct, left structs.Ref) structs.Ref {
	s := p.store
	home := p.store.LookupClient(w.Right.Client)
	if left != 0 && s.Items[left].Right != 0 {
		next := s.Items[left].Right
		if it := &s.Items[next]; it.Client == home && it.From() == w.Right.Clock {
			return next
		}
	}
	return p.tx.ItemStarting(home, w.Right.Clock)
}

// splitOrigins handles a struct that is in the store already. Yjs nevertheless splits the items that contain the
// origins of such a struct, and merges at these places at commit. That merge may join more items than were split,
// because collecting nested types leaves GC structs unmerged. Unlike Yjs, splitOrigins does not cut a surrogate pair
// here, because only a struct that falsely claims to be known can request that.
func (p *planner) splitOrigins(w *wire.Struct) {
	if w.Info&wire.InfoOrigin != 0 {
		p.tx.SplitWhole(p.store.LookupClient(w.Origin.Client), w.Origin.Clock, w.Origin.Clock+1)
	}
	if w.Info&wire.InfoRight != 0 {
		p.tx.SplitWhole(p.store.LookupClient(w.Right.Client), w.Right.Clock, w.Right.Clock)
	}
}

// setOrigins copies the origins of w to an item. If w was cut, the left origin is the last unit that was cut off.
func (p *planner) setOrigins(it *structs.Item, w *wire.Struct, home uint32, offset uint64) {
	if offset > 0 {
		it.Origin, it.OriginClock = home, uint32(w.ID.Clock+offset-1)
	} else if w.Info&wire.InfoOrigin != 0 {
		it.Origin, it.OriginClock = p.store.LookupClient(w.Origin.Client), uint32(w.Origin.Clock)
	}
	if w.Info&wire.InfoRight != 0 {
		it.RightOrigin, it.RightClock = p.store.LookupClient(w.Right.Client), uint32(w.Right.Clock)
	}
}

// parentOf returns the parent of w in the form of Item.Parent. It returns 0 if w becomes a GC struct, because the items
// around it were collected or its parent is not a type.
func (p *planner) parentOf(w *wire.Struct, left, right structs.Ref) int32 {
	s := p.store
	switch {
	case w.Kind() == wire.KindGC,
		left != 0 && s.Items[left].Kind == wire.KindGC,
		right != 0 && s.Items[right].Kind == wire.KindGC:
		return 0
	case left != 0:
		return s.Items[left].Parent
	case right != 0:
		return s.Items[right].Parent
	}
	var b *ytypes.Branch
	if w.InRoot {
		b = s.RootBranch(w.Root.Of(p.data))
	} else {
		it := &s.Items[s.FindItem(p.store.LookupClient(w.Parent.Client), w.Parent.Clock)]
		if it.Kind != wire.KindType {
			return 0
		}
		b = s.Branches[it.Off]
	}
	if w.Info&wire.InfoParentSub != 0 {
		return -s.EntryFor(b, w.Sub.Of(p.data))
	}
	return b.Index
}

// setContent stores the content of w, whose bytes are in data, in an item. It leaves out the first offset units.
func setContent(s *ytypes.Store, it *structs.Item, w *wire.Struct, data []byte, offset uint64) {
	switch it.Kind {
	case wire.KindDeleted:
		it.Length = uint32(w.Length - offset)
		return
	case wire.KindType:
		b := s.NewBranch(w.TypeRef)
		b.Name = append([]byte(nil), w.Content.Of(data)...)
		it.Off, it.Length = uint32(b.Index), 1
		return
	}
	it.Length = uint32(w.Length - offset)
	if offset == 0 {
		it.Off, it.Size = s.Arena.Put(w.Content.Of(data))
		return
	}
	prefix, rest := wire.SliceContent(it.Kind, w.Content.Of(data), offset)
	it.Off, it.Size = s.Arena.PutString(prefix)
	_, size := s.Arena.Put(rest)
	it.Size += size
}
