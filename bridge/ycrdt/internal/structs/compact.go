package structs

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// Space that merging and deleting have freed is reused. It is released once about half of the space is free, so that a
// document built from many small updates needs no more memory than a document that was loaded as a whole.

// minFree is the minimum number of free slots for which a slab is compacted.
const minFree = 1024

// CompactItems rewrites the slab if at least half of it, and at least minFree slots, are free. It orders the items by
// their histories. It returns the new place of each item, or nil if no item has moved.
func (s *Set) CompactItems() (moved []Ref) {
	if s.freeCount < minFree || s.freeCount*2 < len(s.Items) {
		return nil
	}
	live := s.Used()
	items := make([]Item, 1, live+live/8)
	moved = make([]Ref, len(s.Items))
	for i := range s.Clients {
		old := s.Clients[i].Index
		x := &s.Clients[i].Index
		*x = ClockIndex{}
		for _, ch := range old.Chunks {
			for j := range ch.Len() {
				r := ch.At(j)
				moved[r] = Ref(len(items))
				x.Append(moved[r], s.Items[r].From())
				items = append(items, s.Items[r])
			}
		}
	}
	for i := range items {
		items[i].Left, items[i].Right = moved[items[i].Left], moved[items[i].Right]
	}
	s.Items, s.free, s.freeCount, s.LeafOf = items, 0, 0, nil
	return moved
}

// MinDead is the minimum number of unused bytes for which an arena is compacted.
const MinDead = 4096

// CompactArena rewrites the arena if at least half of it, and at least MinDead bytes, are unused.
func (s *Set) CompactArena() {
	a := &s.Arena
	if a.dead < MinDead || a.dead*2 < a.Len() {
		return
	}
	live := a.Live()
	bytes := make([]byte, 0, live+live/4)
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind <= wire.KindDeleted || it.Kind == wire.KindType || it.Kind == KindFree {
			continue
		}
		off := uint32(len(bytes))
		bytes = append(bytes, a.Of(it)...)
		it.Off = off
	}
	a.bytes, a.dead = bytes, 0
}
