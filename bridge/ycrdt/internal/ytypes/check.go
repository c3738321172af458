package ytypes

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// Check verifies every invariant of the store and returns the first violation. Only tests call it.
func (s *Store) Check() error {
	seen, err := s.Set.Check()
	c := checker{Checker: structs.Checker{Err: err}, store: s, seen: seen}
	for _, b := range s.Branches {
		if b != nil && c.Err == nil {
			c.branch(b)
		}
	}
	return c.Err
}

type checker struct {
	structs.Checker
	store *Store
	seen  []bool // items that are in a history
}

func (c *checker) branch(b *Branch) {
	s := c.store
	c.Assert(s.Branches[b.Index] == b && !b.Dead, "branch %d is not where it should be", b.Index)
	if b.Item != 0 {
		it := &s.Items[b.Item]
		c.Assert(it.Kind == wire.KindType && it.Off == uint32(b.Index), "branch %d: item %d is of kind %d", b.Index, b.Item, it.Kind)
	}
	visible, last := 0, structs.Ref(0)
	for r := b.Start; r != 0 && c.Err == nil; r = s.Items[r].Right {
		c.child(r, last, b.Index)
		visible += int(s.Items[r].VisibleUnits())
		last = r
	}
	c.Assert(visible == b.Length, "branch %d has length %d, want %d", b.Index, b.Length, visible)
	for _, e := range b.KeyOrder {
		c.Assert(b.keys[s.Entries[e].Key] == e && s.Entries[e].branch == b.Index, "entry %d is lost", e)
		c.key(e)
	}
	if b.Positions != nil && c.Err == nil {
		c.Err = b.Positions.Check(&s.Slab, b.Start)
	}
}

func (c *checker) child(r, left structs.Ref, parent int32) {
	it := &c.store.Items[r]
	c.Assert(c.seen[r], "item %d is in no history", r)
	c.Assert(it.Parent == parent, "item %d has parent %d, want %d", r, it.Parent, parent)
	c.Assert(it.Left == left, "item %d has left %d, want %d", r, it.Left, left)
}

func (c *checker) key(e int32) {
	s := c.store
	right := structs.Ref(0)
	for r := s.Entries[e].Head; r != 0 && c.Err == nil; r = s.Items[r].Left {
		it := &s.Items[r]
		c.Assert(c.seen[r], "item %d is in no history", r)
		c.Assert(it.Parent == -e && it.Right == right, "item %d of entry %d is not linked", r, e)
		c.Assert(right == 0 || it.Deleted() || c.torn(it), "item %d of entry %d is overwritten, but not deleted", r, e)
		right = r
	}
}

// torn reports whether it, a value of a key, was cut off from a value of several units and is not its last part. As in
// Yjs a newer value deletes only the item that it follows, the last part. If some units had been deleted by then, or the
// newer value itself cut the older one, the parts before it stay undeleted. They are not visible, since only the last
// item of a key is its value. No API writes values of several units, but an update may hold them.
func (c *checker) torn(it *structs.Item) bool {
	s := c.store
	home, end := s.HomeOf(it), s.EndOf(it)
	if end == s.Clients[home].Next {
		return false
	}
	rest := &s.Items[s.FindItem(home, end)]
	return s.ClockOf(rest) == end && rest.Parent == it.Parent && rest.Origin != 0 && s.FollowsOn(it, rest)
}
