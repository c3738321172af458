package structs

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A Checker records the first violated invariant. Only tests use it.
type Checker struct {
	Err error
}

func (c *Checker) Assert(ok bool, format string, args ...any) {
	if !ok && c.Err == nil {
		c.Err = fmt.Errorf(format, args...)
	}
}

type structChecker struct {
	Checker
	set  *Set
	seen []bool // items that are in a history
}

// Check verifies every invariant of s and returns the first violation. seen marks the items that are in a history.
func (s *Set) Check() (seen []bool, err error) {
	c := structChecker{set: s, seen: make([]bool, len(s.Items))}
	for i := 1; i < len(s.Clients) && c.Err == nil; i++ {
		c.history(uint32(i))
	}
	c.free()
	c.arena()
	return c.seen, c.Err
}

func (c *structChecker) history(home uint32) {
	s := c.set
	cl := &s.Clients[home]
	clock := uint64(0)
	for i := range cl.Index.Chunks {
		ch := &cl.Index.Chunks[i]
		c.Assert(ch.Len() > 0 && ch.first == clock, "client %d: chunk starts at %d, want %d", cl.ID, ch.first, clock)
		for j := range ch.Len() {
			r := ch.At(j)
			it := &s.Items[r]
			c.Assert(!c.seen[r], "item %d is in two histories", r)
			c.seen[r] = true
			c.Assert(it.Kind != KindFree && it.Units() > 0, "item %d has kind %d and no units", r, it.Kind)
			c.Assert(s.HomeOf(it) == home && s.ClockOf(it) == clock, "item %d: client %d clock %d, want %d", r, s.HomeOf(it), s.ClockOf(it), clock)
			c.Assert(it.Kind == wire.KindGC || it.Parent != 0, "item %d has no parent", r)
			c.Assert(it.Kind > wire.KindDeleted || it.Deleted(), "item %d: deleted content is visible", r)
			c.Assert(it.Deleted() == (it.Kind <= wire.KindDeleted), "item %d: deleted, but still of kind %d", r, it.Kind)
			clock += it.Units()
		}
	}
	c.Assert(clock == cl.Next, "client %d: history ends at %d, want %d", cl.ID, clock, cl.Next)
}

func (c *structChecker) free() {
	s := c.set
	n := 0
	for r := s.free; r != 0 && n <= s.freeCount; r = s.Items[r].Right {
		c.Assert(s.Items[r].Kind == KindFree && !c.seen[r], "free item %d is in use", r)
		n++
	}
	c.Assert(n == s.freeCount, "%d items are free, want %d", n, s.freeCount)
	for r := 1; r < len(s.Items); r++ {
		c.Assert(c.seen[r] || s.Items[r].Kind == KindFree, "item %d is lost", r)
	}
}

func (c *structChecker) arena() {
	s := c.set
	live := 0
	for r := range s.Items {
		it := &s.Items[r]
		if it.Kind <= wire.KindDeleted || it.Kind == wire.KindType || it.Kind == KindFree {
			continue
		}
		c.Assert(int(it.Off)+int(it.Size) <= s.Arena.Len(), "item %d lies beyond the arena", r)
		if c.Err == nil && it.Kind == wire.KindString {
			c.Assert(lib0.UTF16Len(s.Arena.Of(it)) == int(it.Length), "item %d has %d units", r, it.Length)
		}
		live += int(it.Size)
	}
	c.Assert(live == s.Arena.Live(), "arena has %d live bytes of %d, want %d", s.Arena.Live(), s.Arena.Len(), live)
}
