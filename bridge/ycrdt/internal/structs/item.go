package structs

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A Ref identifies an item by its place in the slab. 0 means no item.
type Ref int32

const KindFree = 255

const FlagDeleted = 1

// An Item is one run of content by one client: an Item or GC struct of Yjs. Items are in a slab without pointers, which
// the garbage collector does not scan, and refer to each other by [Ref].
type Item struct {
	Clock       uint32
	Length      uint32 // number of clock units: UTF-16 units or elements
	OriginClock uint32
	RightClock  uint32
	Client      uint32
	Origin      uint32 // client index of the left origin, or 0 if there is none
	RightOrigin uint32 // client index of the right origin, or 0 if there is none
	Left        Ref
	Right       Ref
	Parent      int32  // if positive, the index of a type; if negative, minus the index of a map entry
	Off         uint32 // start of the content in the arena; for KindType, the index of the type
	Size        uint32 // size of the content in the arena, in bytes
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

// VisibleUnits returns the number of units that the item adds to the length of its list.
func (it *Item) VisibleUnits() uint32 {
	if it.Deleted() || !countable(it.Kind) {
		return 0
	}
	return it.Length
}

func (it *Item) Units() uint64 { return uint64(it.Length) }

// From returns the clock of the first unit, and End the clock after the last one.
func (it *Item) From() uint64 { return uint64(it.Clock) }

func (it *Item) End() uint64 { return it.From() + it.Units() }
