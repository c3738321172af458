package ycrdt

// A store holds the structs of a document: Yjs's StructStore together with the
// types, the text and everything else that Doc.mu protects.
type store struct {
	items     []item // the slab; item 0 is not used
	free      ref    // head of the list of free slots, linked by right
	freeCount int

	clients     []client // the client table; entry 0 is not used
	clientIndex map[ClientID]uint32
	wide        map[wideKey]uint32

	arena []byte
	dead  int // unused bytes of the arena

	branches     []*branch // branch 0 is not used
	roots        map[string]*branch
	entries      []entry // entry 0 is not used
	freeBranches []int32
	freeEntries  []int32

	leafOf []int32 // leaf of each item in its branch's position index; nil until one is built
	scan   conflictScan
	epoch  uint64 // of the running or last transaction

	pending pendingUpdates
}

func newStore() *store {
	return &store{
		items:    make([]item, 1),
		clients:  make([]client, 1),
		branches: make([]*branch, 1),
		entries:  make([]entry, 1),
		roots:    make(map[string]*branch),
	}
}

// reserve makes room for structs more items and bytes more content, exactly:
// a loaded document that nobody edits should cost close to its bytes.
func (s *store) reserve(structs, bytes int) {
	if need := len(s.items) + structs; need > cap(s.items) && len(s.items) < need/4 {
		items := make([]item, len(s.items), need)
		copy(items, s.items)
		s.items = items
	}
	if need := len(s.arena) + bytes; need > cap(s.arena) && len(s.arena) < need/4 {
		arena := make([]byte, len(s.arena), need)
		copy(arena, s.arena)
		s.arena = arena
	}
}

// split cuts the item at place p of the client's history so that its second
// part starts diff units on, and returns that part and its place.
func (tx *Txn) split(home uint32, p clockPos, diff uint64) (ref, clockPos) {
	s := tx.store
	x := &s.clients[home].index
	l := x.at(p)
	r := s.newItem()
	left, right := &s.items[l], &s.items[r]
	*right = *left
	clock := s.clockOf(left) + diff
	s.setClock(right, home, clock)
	right.origin, right.originClock = s.narrow(home, clock-1)
	s.splitContent(left, right, diff)
	right.left = l
	left.right = r
	if right.right != 0 {
		s.items[right.right].left = r
	} else if right.parent < 0 {
		s.entries[-right.parent].head = r
	}
	if right.parent > 0 {
		if px := s.branches[right.parent].positions; px != nil {
			px.split(s, l, r)
		}
	}
	tx.mergeAt = append(tx.mergeAt, unit{home, clock})
	return r, s.insertAfter(x, p, r)
}

// itemEnding returns the item that ends with the unit (home, clock), splitting
// the one that holds it if need be. GC structs are never split.
func (tx *Txn) itemEnding(home uint32, clock uint64) ref {
	s := tx.store
	x := &s.clients[home].index
	p := s.find(x, clock)
	r := x.at(p)
	if it := &s.items[r]; it.kind != kindGC && clock+1 != s.endOf(it) {
		tx.split(home, p, clock+1-s.clockOf(it))
	}
	return r
}

// itemStarting returns the item that starts with the unit (home, clock),
// splitting the one that holds it if need be. GC structs are never split.
func (tx *Txn) itemStarting(home uint32, clock uint64) ref {
	s := tx.store
	x := &s.clients[home].index
	p := s.find(x, clock)
	r := x.at(p)
	if it := &s.items[r]; it.kind != kindGC && s.clockOf(it) != clock {
		r, _ = tx.split(home, p, clock-s.clockOf(it))
	}
	return r
}

// splitItem cuts the item r so that its second part starts diff units on.
func (tx *Txn) splitItem(r ref, diff uint64) ref {
	s := tx.store
	home, clock := s.homeOf(&s.items[r]), s.clockOf(&s.items[r])
	right, _ := tx.split(home, s.find(&s.clients[home].index, clock), diff)
	return right
}
