package structs

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A Ref names an item by its place in the slab; 0 means no item.
type Ref int32

const KindFree = 255

const FlagDeleted = 1

// An Item is one run of content by one client: Yjs's Item or GC struct. Items are in a slab without pointers, which the
// garbage collector need not scan, and link to each other by [Ref].
//
// An item stores its clock as the low 32 bits, and its client as an index of the client table entry that holds the high
// bits (see [Client]). Deleted content, which a few bytes may claim to be up to 2^53 long, keeps the high bits of its
// length in Size.
type Item struct {
	Clock       uint32
	Length      uint32 // in clock units: UTF-16 units, elements
	OriginClock uint32
	RightClock  uint32
	Client      uint32
	Origin      uint32 // client index of the left origin, 0 for none
	RightOrigin uint32 // client index of the right origin, 0 for none
	Left        Ref
	Right       Ref
	Parent      int32  // >0: index of a type; <0: minus the index of a map entry
	Off         uint32 // start of the content in the arena; index of the type of KindType
	Size        uint32 // bytes in the arena
	Kind        uint8
	Flags       uint8
}

func (it *Item) Deleted() bool { return it.Flags&FlagDeleted != 0 }

// countable reports whether content of this kind counts in the visible length.
func countable(kind uint8) bool {
	return kind != wire.KindDeleted && kind != wire.KindFormat && kind != wire.KindGC
}

func (it *Item) Visible() bool {
	return it.Flags&FlagDeleted == 0 && it.Kind != wire.KindFormat
}

// VisibleUnits returns the units that the item adds to the length of its list.
func (it *Item) VisibleUnits() uint32 {
	if it.Deleted() || !countable(it.Kind) {
		return 0
	}
	return it.Length
}

func (it *Item) Units() uint64 {
	if it.Kind <= wire.KindDeleted {
		return uint64(it.Size)<<32 | uint64(it.Length)
	}
	return uint64(it.Length)
}

func (it *Item) SetUnits(n uint64) {
	it.Length = uint32(n)
	if it.Kind <= wire.KindDeleted {
		it.Size = uint32(n >> 32)
	}
}
