package structs

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A Ref names an item by its place in the slab; 0 is no item.
type Ref int32

// KindFree is the kind of a slot of the slab that holds no item.
const KindFree = 255

// FlagDeleted marks what is deleted.
const FlagDeleted = 1

// An Item is one run of content by one client: what Yjs calls an Item, or a GC struct. Items live in a slab without
// pointers, which the garbage collector need not scan, and link to each other by [Ref].
//
// A clock is kept as its low 32 bits, and the client as an index into the client table whose entry holds the high bits (see
// [Client]). Likewise the length of deleted content, which a few bytes may claim to be up to 2^53, keeps its high bits in
// Size.
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

// Deleted reports whether the item is deleted.
func (it *Item) Deleted() bool { return it.Flags&FlagDeleted != 0 }

// countable reports whether content of this kind counts in a visible length.
func countable(kind uint8) bool {
	return kind != wire.KindDeleted && kind != wire.KindFormat && kind != wire.KindGC
}

// Visible reports whether the item counts in the length of its type.
func (it *Item) Visible() bool {
	return it.Flags&FlagDeleted == 0 && it.Kind != wire.KindFormat
}

// VisibleUnits returns what it counts in the length of its list.
func (it *Item) VisibleUnits() uint32 {
	if it.Deleted() || !countable(it.Kind) {
		return 0
	}
	return it.Length
}

// Units returns the length in clock units.
func (it *Item) Units() uint64 {
	if it.Kind <= wire.KindDeleted {
		return uint64(it.Size)<<32 | uint64(it.Length)
	}
	return uint64(it.Length)
}

// SetUnits sets the length of an item of any kind.
func (it *Item) SetUnits(n uint64) {
	it.Length = uint32(n)
	if it.Kind <= wire.KindDeleted {
		it.Size = uint32(n >> 32)
	}
}
