package ycrdt

import "fmt"

// check verifies every invariant of the store and returns the first that does
// not hold. Tests call it after each step.
func (s *store) check() error {
	c := checker{store: s, seen: make([]bool, len(s.items))}
	for i := 1; i < len(s.clients) && c.err == nil; i++ {
		c.history(uint32(i))
	}
	for _, b := range s.branches {
		if b != nil && c.err == nil {
			c.branch(b)
		}
	}
	c.free()
	c.arena()
	return c.err
}

type checker struct {
	store *store
	seen  []bool // items that are in a history
	err   error
}

func (c *checker) assert(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// history checks that the structs of a client follow one another without a gap.
func (c *checker) history(home uint32) {
	s := c.store
	cl := &s.clients[home]
	clock := uint64(0)
	for i := range cl.index.chunks {
		ch := &cl.index.chunks[i]
		c.assert(ch.len() > 0 && ch.first == clock, "client %d: chunk starts at %d, want %d", cl.id, ch.first, clock)
		for j := range ch.len() {
			r := ch.at(j)
			it := &s.items[r]
			c.assert(!c.seen[r], "item %d is in two histories", r)
			c.seen[r] = true
			c.assert(it.kind != kindFree && it.units() > 0, "item %d has kind %d and no units", r, it.kind)
			c.assert(s.homeOf(it) == home && s.clockOf(it) == clock, "item %d: client %d clock %d, want %d", r, s.homeOf(it), s.clockOf(it), clock)
			c.assert(it.kind == kindGC || it.parent != 0, "item %d has no parent", r)
			c.assert(it.kind > kindDeleted || it.deleted(), "item %d: deleted content is visible", r)
			c.assert(it.deleted() == (it.kind <= kindDeleted), "item %d: deleted, but still of kind %d", r, it.kind)
			clock += it.units()
		}
	}
	c.assert(clock == cl.next, "client %d: history ends at %d, want %d", cl.id, clock, cl.next)
}

// branch checks the lists of b and what is derived from them.
func (c *checker) branch(b *branch) {
	s := c.store
	c.assert(s.branches[b.index] == b && !b.dead, "branch %d is not where it should be", b.index)
	if b.item != 0 {
		it := &s.items[b.item]
		c.assert(it.kind == kindType && it.off == uint32(b.index), "branch %d: item %d is of kind %d", b.index, b.item, it.kind)
	}
	visible, last := 0, ref(0)
	for r := b.start; r != 0 && c.err == nil; r = s.items[r].right {
		c.child(r, last, b.index)
		visible += int(visibleUnits(&s.items[r]))
		last = r
	}
	c.assert(visible == b.length, "branch %d has length %d, want %d", b.index, b.length, visible)
	for _, e := range b.keyOrder {
		c.assert(b.keys[s.entries[e].key] == e && s.entries[e].branch == b.index, "entry %d is lost", e)
		c.key(e)
	}
	if b.positions != nil {
		c.positions(b)
	}
}

func (c *checker) child(r, left ref, parent int32) {
	it := &c.store.items[r]
	c.assert(c.seen[r], "item %d is in no history", r)
	c.assert(it.parent == parent, "item %d has parent %d, want %d", r, it.parent, parent)
	c.assert(it.left == left, "item %d has left %d, want %d", r, it.left, left)
}

func (c *checker) key(e int32) {
	s := c.store
	right := ref(0)
	for r := s.entries[e].head; r != 0 && c.err == nil; r = s.items[r].left {
		it := &s.items[r]
		c.assert(c.seen[r], "item %d is in no history", r)
		c.assert(it.parent == -e && it.right == right, "item %d of entry %d is not linked", r, e)
		c.assert(right == 0 || it.deleted() || c.torn(it), "item %d of entry %d is overwritten, but not deleted", r, e)
		right = r
	}
}

// torn reports whether it, a value of a key, was cut off from a value of
// several units, and is not the last part. As in Yjs a newer value deletes only
// the item that it follows, the last part; if some units had been deleted by
// then, or that was what cut the value, parts before them stay undeleted. They
// are out of sight all the same, since only the last item of a key is its
// value. No API writes values of several units, but an update may hold them.
func (c *checker) torn(it *item) bool {
	s := c.store
	home, end := s.homeOf(it), s.endOf(it)
	if end == s.clients[home].next {
		return false
	}
	rest := &s.items[s.findItem(home, end)]
	return s.clockOf(rest) == end && rest.parent == it.parent && rest.origin != 0 && s.followsOn(it, rest)
}

// positions checks that the position index lists exactly the list of b.
func (c *checker) positions(b *branch) {
	s, x := c.store, b.positions
	r := b.start
	for pos, bi := range x.order {
		bl := &x.blocks[bi]
		c.assert(int(bl.pos) == pos, "block %d is at %d, want %d", bi, bl.pos, pos)
		inBlock := 0
		for i, l := range bl.leaves[:bl.n] {
			lf := &x.leaves[l]
			inLeaf := 0
			for k, got := range lf.refs[:lf.n] {
				c.assert(got == r && s.leafOf[got] == l, "leaf %d has item %d, want %d", l, got, r)
				c.assert(lf.units[k] == visibleUnits(&s.items[got]), "leaf %d: item %d has %d units", l, got, lf.units[k])
				inLeaf += int(lf.units[k])
				r = s.items[r].right
			}
			c.assert(lf.block == bi && lf.sum == inLeaf && bl.sums[i] == inLeaf, "leaf %d has sum %d, want %d", l, lf.sum, inLeaf)
			inBlock += inLeaf
		}
		c.assert(x.sums[pos] == inBlock, "block %d has sum %d, want %d", bi, x.sums[pos], inBlock)
	}
	c.assert(r == 0, "item %d is in no leaf", r)
}

func (c *checker) free() {
	s := c.store
	n := 0
	for r := s.free; r != 0 && n <= s.freeCount; r = s.items[r].right {
		c.assert(s.items[r].kind == kindFree && !c.seen[r], "free item %d is in use", r)
		n++
	}
	c.assert(n == s.freeCount, "%d items are free, want %d", n, s.freeCount)
	for r := 1; r < len(s.items); r++ {
		c.assert(c.seen[r] || s.items[r].kind == kindFree, "item %d is lost", r)
	}
}

// arena checks that content lies inside the arena and that dead is right.
func (c *checker) arena() {
	s := c.store
	live := 0
	for r := range s.items {
		it := &s.items[r]
		if it.kind <= kindDeleted || it.kind == kindType || it.kind == kindFree {
			continue
		}
		c.assert(int(it.off)+int(it.size) <= len(s.arena), "item %d lies beyond the arena", r)
		if c.err == nil && it.kind == kindString {
			c.assert(utf16Len(s.bytesOf(it)) == int(it.length), "item %d has %d units", r, it.length)
		}
		live += int(it.size)
	}
	c.assert(live+s.dead == len(s.arena), "arena has %d bytes, %d live and %d dead", len(s.arena), live, s.dead)
}
