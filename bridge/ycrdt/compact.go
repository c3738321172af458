package ycrdt

// What merging and deleting leave behind is reused, and given back once it is
// the larger part: a document that was put together from many small updates
// costs no more than one that was loaded whole.

// minFree is how many free slots a slab may hold without being compacted.
const minFree = 1024

// compactItems rewrites the slab when more than half of it is free. Items come
// to stand in the order of the histories, which are mere ranges then.
func (s *store) compactItems() {
	if s.freeCount < minFree || s.freeCount*2 < len(s.items) {
		return
	}
	live := len(s.items) - s.freeCount
	items := make([]item, 1, live+live/8)
	moved := make([]ref, len(s.items)) // new place of each item
	for i := range s.clients {
		old := s.clients[i].index
		x := &s.clients[i].index
		*x = clockIndex{}
		for _, ch := range old.chunks {
			for j := range ch.len() {
				r := ch.at(j)
				moved[r] = ref(len(items))
				x.append(moved[r], s.clockOf(&s.items[r]))
				items = append(items, s.items[r])
			}
		}
	}
	for i := range items {
		items[i].left, items[i].right = moved[items[i].left], moved[items[i].right]
	}
	for _, b := range s.branches {
		if b != nil {
			b.start, b.item, b.positions = moved[b.start], moved[b.item], nil
		}
	}
	for i := range s.entries {
		s.entries[i].head = moved[s.entries[i].head]
	}
	s.items, s.free, s.freeCount, s.leafOf = items, 0, 0, nil
}

// minDead is how many unused bytes an arena may hold without being compacted.
const minDead = 4096

// compactArena rewrites the arena when more than half of it is unused.
func (s *store) compactArena() {
	if s.dead < minDead || s.dead*2 < len(s.arena) {
		return
	}
	live := len(s.arena) - s.dead
	arena := make([]byte, 0, live+live/4)
	for i := range s.items {
		it := &s.items[i]
		if it.kind <= kindDeleted || it.kind == kindType || it.kind == kindFree {
			continue
		}
		off := uint32(len(arena))
		arena = append(arena, s.bytesOf(it)...)
		it.off = off
	}
	s.arena, s.dead = arena, 0
}
