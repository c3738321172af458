package ycrdt

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Check returns the first violated invariant of the document.
func Check(d *Doc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return checkStore(d.store)
}

func checkStore(s *ytypes.Store) error {
	c := checker{s: s, seen: make([]bool, len(s.Items))}
	for i := 1; i < len(s.Clients) && c.err == nil; i++ {
		c.history(uint32(i))
	}
	c.slots()
	c.arena()
	for _, b := range s.Branches {
		if b != nil && c.err == nil {
			c.branch(b)
		}
	}
	return c.err
}

type checker struct {
	s    *ytypes.Store
	seen []bool // items that are in a history
	err  error
}

func (c *checker) assert(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) history(home uint32) {
	s := c.s
	cl := &s.Clients[home]
	index := cl.Index // a copy, since a search moves the hint
	clock := uint64(0)
	for i := range index.Chunks {
		ch := &index.Chunks[i]
		c.assert(ch.Len() > 0, "client %d: chunk %d is empty", cl.ID, i)
		for j := range ch.Len() {
			r := ch.At(j)
			it := &s.Items[r]
			c.assert(!c.seen[r], "item %d is in two histories", r)
			c.seen[r] = true
			c.assert(it.Kind != structs.KindFree && it.Units() > 0, "item %d has kind %d and no units", r, it.Kind)
			c.assert(it.Client == home && it.From() == clock, "item %d: client %d clock %d, want %d", r, it.Client, it.From(), clock)
			c.assert(it.Kind == wire.KindGC || it.Parent != 0, "item %d has no parent", r)
			c.assert(it.Kind > wire.KindDeleted || it.Deleted(), "item %d: deleted content is visible", r)
			c.assert(it.Deleted() == (it.Kind <= wire.KindDeleted), "item %d: deleted, but still of kind %d", r, it.Kind)
			if c.err != nil {
				return
			}
			c.assert(index.At(s.Find(&index, clock)) == r, "client %d: clock %d is not found in item %d", cl.ID, clock, r)
			clock += it.Units()
		}
	}
	c.assert(clock == cl.Next, "client %d: history ends at %d, want %d", cl.ID, clock, cl.Next)
}

func (c *checker) slots() {
	s := c.s
	free := 0
	for r := 1; r < len(s.Items); r++ {
		isFree := s.Items[r].Kind == structs.KindFree
		c.assert(c.seen[r] != isFree, "item %d is lost, or free and in use", r)
		if isFree {
			free++
		}
	}
	c.assert(s.Used() == len(s.Items)-free, "%d items are used of %d, %d are free", s.Used(), len(s.Items), free)
}

func (c *checker) arena() {
	s := c.s
	live := 0
	for r := range s.Items {
		it := &s.Items[r]
		if it.Kind <= wire.KindDeleted || it.Kind == wire.KindType || it.Kind == structs.KindFree {
			continue
		}
		c.assert(int(it.Off)+int(it.Size) <= s.Arena.Len(), "item %d lies beyond the arena", r)
		if c.err == nil && it.Kind == wire.KindString {
			c.assert(lib0.UTF16Len(s.Arena.Of(it)) == int(it.Length), "item %d has %d units", r, it.Length)
		}
		live += int(it.Size)
	}
	c.assert(live == s.Arena.Live(), "arena has %d live bytes of %d, want %d", s.Arena.Live(), s.Arena.Len(), live)
}

func (c *checker) branch(b *ytypes.Branch) {
	s := c.s
	c.assert(s.Branches[b.Index] == b && !b.Dead, "branch %d is not where it should be", b.Index)
	if b.Item != 0 {
		it := &s.Items[b.Item]
		c.assert(it.Kind == wire.KindType && it.Off == uint32(b.Index), "branch %d: item %d is of kind %d", b.Index, b.Item, it.Kind)
	}
	visible, last := 0, structs.Ref(0)
	for r := b.Start; r != 0 && c.err == nil; r = s.Items[r].Right {
		it := &s.Items[r]
		c.assert(c.seen[r], "item %d is in no history", r)
		c.assert(it.Parent == b.Index, "item %d has parent %d, want %d", r, it.Parent, b.Index)
		c.assert(it.Left == last, "item %d has left %d, want %d", r, it.Left, last)
		visible += int(it.VisibleUnits())
		last = r
	}
	c.assert(visible == b.Length, "branch %d has length %d, want %d", b.Index, b.Length, visible)
	for _, e := range b.KeyOrder {
		c.assert(s.HeadOf(b, s.Entries[e].Key) == s.Entries[e].Head, "entry %d is lost", e)
		c.key(b, e)
	}
	if b.Positions != nil && c.err == nil {
		c.positions(b)
	}
}

// positions checks that the position index finds both ends of every visible item.
func (c *checker) positions(b *ytypes.Branch) {
	index := *b.Positions // a copy, since a search moves the cursor
	pos := 0
	for r := b.Start; r != 0 && c.err == nil; r = c.s.Items[r].Right {
		n := int(c.s.Items[r].VisibleUnits())
		if n == 0 {
			continue
		}
		for _, off := range []int{1, n} {
			got, at := index.Locate(pos + off)
			c.assert(got == r && at == off, "position %d is found at unit %d of item %d, want unit %d of item %d", pos+off, at, got, off, r)
		}
		pos += n
	}
}

func (c *checker) key(b *ytypes.Branch, e int32) {
	s := c.s
	right := structs.Ref(0)
	for r := s.Entries[e].Head; r != 0 && c.err == nil; r = s.Items[r].Left {
		it := &s.Items[r]
		c.assert(c.seen[r], "item %d is in no history", r)
		c.assert(it.Parent == -e && it.Right == right && s.BranchOf(it) == b, "item %d of entry %d is not linked", r, e)
		c.assert(right == 0 || it.Deleted() || c.torn(it), "item %d of entry %d is overwritten, but not deleted", r, e)
		right = r
	}
}

// torn reports whether it, a value of a key, was cut off from a value of several units and is not its last part. As in
// Yjs a newer value deletes only the item that it follows, the last part. If some units had been deleted by then, or the
// newer value itself cut the older one, the parts before it stay undeleted. They are not visible, since only the last
// item of a key is its value. No API writes values of several units, but an update may hold them.
func (c *checker) torn(it *structs.Item) bool {
	s := c.s
	home, end := it.Client, it.End()
	if end == s.Clients[home].Next {
		return false
	}
	index := s.Clients[home].Index
	rest := &s.Items[index.At(s.Find(&index, end))]
	return rest.From() == end && rest.Parent == it.Parent && rest.Origin != 0 && s.FollowsOn(it, rest)
}
