package ytypes

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// Forget turns r into a GC struct and returns next. If r is a type, it adds the branch to dropped.
func (s *Store) Forget(r, next structs.Ref, dropped []*Branch) (structs.Ref, []*Branch) {
	it := &s.Items[r]
	if it.Kind == wire.KindType {
		dropped = append(dropped, s.Branches[it.Off])
	}
	s.Arena.Drop(it)
	*it = structs.Item{
		Kind: wire.KindGC, Flags: structs.FlagDeleted,
		Client: it.Client, Clock: it.Clock, Length: it.Length,
	}
	return next, dropped
}

// absorb appends the struct r to l, unlinks it and frees its slot. The caller updates the history of the client.
func (s *Store) absorb(l, r structs.Ref) {
	left, right := &s.Items[l], &s.Items[r]
	if left.Kind != wire.KindGC {
		if right.Parent > 0 {
			if px := s.Branches[right.Parent].Positions; px != nil {
				px.Merge(&s.Slab, l, r)
			}
		} else if e := &s.Entries[-right.Parent]; e.Head == r {
			e.Head = l
		}
		left.Right = right.Right
		if left.Right != 0 {
			s.Items[left.Right].Left = l
		}
	}
	s.Arena.Merge(left, right)
	s.FreeItem(r)
}

// MergeLeft merges the struct at p with as many structs before it as possible. It returns the place of the merged
// struct and the number of structs that were absorbed.
func (s *Store) MergeLeft(x *structs.ClockIndex, p structs.Pos) (structs.Pos, int) {
	merged := 0
	for {
		q, ok := x.Prev(p)
		if !ok || !s.Mergeable(x.At(q), x.At(p)) {
			return p, merged
		}
		r := x.At(p)
		p = s.Remove(x, p)
		s.absorb(x.At(p), r)
		merged++
	}
}

// MergeTail merges all mergeable neighbours from place p to the end. The struct at p must absorb the next one. Unlike
// MergeLeft it moves each ref at most once.
func (s *Store) MergeTail(x *structs.ClockIndex, p structs.Pos) {
	l := x.At(p)
	first := structs.Pos{Chunk: p.Chunk, Index: p.Index + 1}
	var kept []structs.Ref
	for {
		q, ok := x.Next(p)
		if !ok {
			break
		}
		p = q
		r := x.At(p)
		if s.Mergeable(l, r) {
			s.absorb(l, r)
			continue
		}
		kept = append(kept, r)
		l = r
	}
	s.ReplaceTail(x, first, kept)
}
