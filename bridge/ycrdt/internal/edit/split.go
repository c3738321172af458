package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// split cuts the item at place p of the client's history after its first diff units. It returns the second part and the
// place of that part.
func (tx *Txn) split(home uint32, p structs.Pos, diff uint64) (structs.Ref, structs.Pos) {
	s := tx.Store
	x := &s.Clients[home].Index
	l := x.At(p)
	r := s.NewItem()
	left, right := &s.Items[l], &s.Items[r]
	*right = *left
	clock := left.From() + diff
	right.Clock = uint32(clock)
	right.Origin, right.OriginClock = home, uint32(clock-1)
	s.Arena.Split(left, right, diff)
	right.Left = l
	left.Right = r
	if right.Right != 0 {
		s.Items[right.Right].Left = r
	} else if right.Parent < 0 {
		s.Entries[-right.Parent].Head = r
	}
	if right.Parent > 0 {
		if px := s.Branches[right.Parent].Positions; px != nil {
			px.Split(&s.Slab, l, r)
		}
	}
	tx.mergeAt = append(tx.mergeAt, unit{home, clock})
	return r, s.InsertAfter(x, p, r)
}

// ItemEnding returns the item that ends with the unit (home, clock). It splits an item if necessary, but never a GC
// struct.
func (tx *Txn) ItemEnding(home uint32, clock uint64) structs.Ref {
	s := tx.Store
	x := &s.Clients[home].Index
	p := s.Find(x, clock)
	r := x.At(p)
	if it := &s.Items[r]; it.Kind != wire.KindGC && clock+1 != it.End() {
		tx.split(home, p, clock+1-it.From())
	}
	return r
}

// ItemStarting returns the item that starts with the unit (home, clock). It splits an item if necessary, but never a GC
// struct.
func (tx *Txn) ItemStarting(home uint32, clock uint64) structs.Ref {
	s := tx.Store
	x := &s.Clients[home].Index
	p := s.Find(x, clock)
	r := x.At(p)
	if it := &s.Items[r]; it.Kind != wire.KindGC && it.From() != clock {
		r, _ = tx.split(home, p, clock-it.From())
	}
	return r
}

func (tx *Txn) SplitItem(r structs.Ref, diff uint64) structs.Ref {
	s := tx.Store
	home, clock := s.Items[r].Client, s.Items[r].From()
	right, _ := tx.split(home, s.Find(&s.Clients[home].Index, clock), diff)
	return right
}

// SplitWhole finds the item that contains the unit (home, clock), and splits it before the unit (home, at), which must
// be in that item or directly after it. SplitWhole does not split the item if that would cut a surrogate pair.
func (tx *Txn) SplitWhole(home uint32, clock, at uint64) {
	s := tx.Store
	x := &s.Clients[home].Index
	p := s.Find(x, clock)
	it := &s.Items[x.At(p)]
	diff := at - it.From()
	if it.Kind == wire.KindGC || diff == 0 || at == it.End() || s.Arena.InsidePair(it, int(diff)) {
		return
	}
	tx.split(home, p, diff)
}
