package ycrdt

// A ref names an item by its place in the slab; 0 is no item.
type ref int32

// The kinds of content, numbered as the low five bits of a struct's info byte.
const (
	kindGC      = 0 // a range whose content and place are forgotten
	kindDeleted = 1
	kindJSON    = 2
	kindBinary  = 3
	kindString  = 4
	kindEmbed   = 5
	kindFormat  = 6
	kindType    = 7
	kindAny     = 8
	kindDoc     = 9
	kindSkip    = 10 // on the wire only: a hole in a merged update

	kindFree = 255 // a slot of the slab that holds no item
)

// The bits of an info byte above the kind.
const (
	infoKind      = 0x1f
	infoParentSub = 0x20
	infoRight     = 0x40
	infoOrigin    = 0x80
)

const flagDeleted = 1

// An item is one run of content by one client: what Yjs calls an Item, or a GC
// struct. Items live in a slab without pointers, which the garbage collector
// need not scan, and link to each other by ref.
//
// A clock is kept as its low 32 bits, and the client as an index into the
// client table whose entry holds the high bits (see clientTable). Likewise the
// length of deleted content, which a few bytes may claim to be up to 2^53,
// keeps its high bits in size.
type item struct {
	clock       uint32
	length      uint32 // in clock units: UTF-16 units, elements
	originClock uint32
	rightClock  uint32
	client      uint32
	origin      uint32 // client index of the left origin, 0 for none
	rightOrigin uint32 // client index of the right origin, 0 for none
	left        ref
	right       ref
	parent      int32  // >0: index of a type; <0: minus the index of a map entry
	off         uint32 // start of the content in the arena; index of the type of kindType
	size        uint32 // bytes in the arena
	kind        uint8
	flags       uint8
}

func (it *item) deleted() bool { return it.flags&flagDeleted != 0 }

// countable reports whether content of this kind counts in a visible length.
func countable(kind uint8) bool {
	return kind != kindDeleted && kind != kindFormat && kind != kindGC
}

// visible reports whether the item counts in the length of its type.
func (it *item) visible() bool {
	return it.flags&flagDeleted == 0 && it.kind != kindFormat
}

// units returns the length in clock units.
func (it *item) units() uint64 {
	if it.kind <= kindDeleted {
		return uint64(it.size)<<32 | uint64(it.length)
	}
	return uint64(it.length)
}

// setUnits sets the length of an item of any kind.
func (it *item) setUnits(n uint64) {
	it.length = uint32(n)
	if it.kind <= kindDeleted {
		it.size = uint32(n >> 32)
	}
}

// newItem returns a free slot of the slab, cleared.
func (s *store) newItem() ref {
	if r := s.free; r != 0 {
		s.free = s.items[r].right
		s.freeCount--
		s.items[r] = item{}
		return r
	}
	s.items = append(s.items, item{})
	if s.leafOf != nil {
		s.leafOf = append(s.leafOf, 0)
	}
	return ref(len(s.items) - 1)
}

// freeItem gives the slot r back. Nothing may refer to it any more.
func (s *store) freeItem(r ref) {
	if int(r) == len(s.items)-1 {
		s.items = s.items[:r]
		if s.leafOf != nil {
			s.leafOf = s.leafOf[:r]
		}
		return
	}
	s.items[r] = item{kind: kindFree, right: s.free}
	s.free = r
	s.freeCount++
}

// clockOf returns the clock of the first unit of it.
func (s *store) clockOf(it *item) uint64 {
	return s.clients[it.client].base | uint64(it.clock)
}

// endOf returns the clock after the last unit of it.
func (s *store) endOf(it *item) uint64 { return s.clockOf(it) + it.units() }

// homeOf returns the index of the client table entry that holds the history of
// the item's client.
func (s *store) homeOf(it *item) uint32 { return s.clients[it.client].home }

// idOf returns the ID of the first unit of it.
func (s *store) idOf(it *item) ID {
	c := &s.clients[it.client]
	return ID{c.id, c.base | uint64(it.clock)}
}

// setClock sets the id of it to the given clock of the client with table index home.
func (s *store) setClock(it *item, home uint32, clock uint64) {
	it.client, it.clock = s.narrow(home, clock)
}
