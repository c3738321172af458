package ytypes

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// An Index finds the item at a visible position of a list without a walk through the whole list. The first edit far
// from the start of a list builds it: loading, relaying and encoding a document need no index.
//
// Items are in list order in leaves, and leaves in one array. A leaf stores the numbers of visible units of its items,
// and the array those of the leaves. Slab.LeafOf has the leaf of an item, leaf.pos the place of a leaf.
type Index struct {
	leaves []leaf
	order  []int32 // leaves in list order
	sums   []int   // number of visible units of each leaf, in list order

	freeLeaf []int32

	// The cursor is the place of the leaf that the last search found, with the number of visible units before it.
	cursor      int
	cursorStart int
	cursorValid bool
}

const leafCap = 64

type leaf struct {
	pos   int32 // place in Index.order
	n     int32
	refs  [leafCap]structs.Ref
	units [leafCap]uint32 // number of visible units of each item
}

func NewIndex(s *structs.Slab, start structs.Ref) *Index {
	if len(s.LeafOf) < len(s.Items) {
		s.LeafOf = append(make([]int32, 0, cap(s.Items)), s.LeafOf...)
		s.LeafOf = s.LeafOf[:len(s.Items)]
	}
	x := &Index{}
	x.leaves = append(x.leaves, leaf{})
	x.order, x.sums = append(x.order, 0), append(x.sums, 0)
	last := structs.Ref(0)
	for r := start; r != 0; r = s.Items[r].Right {
		x.InsertAfter(s, last, r)
		last = r
	}
	return x
}

func (x *Index) InsertAfter(s *structs.Slab, left, r structs.Ref) {
	l, at := x.order[0], 0
	if left != 0 {
		l = s.LeafOf[left]
		at = x.slot(l, left) + 1
	}
	if x.leaves[l].n == leafCap {
		l, at = x.splitLeaf(s, l, at)
	}
	lf := &x.leaves[l]
	copy(lf.refs[at+1:lf.n+1], lf.refs[at:lf.n])
	copy(lf.units[at+1:lf.n+1], lf.units[at:lf.n])
	n := s.Items[r].VisibleUnits()
	lf.refs[at], lf.units[at] = r, n
	lf.n++
	s.LeafOf[r] = l
	x.add(l, int(n))
}

func (x *Index) slot(l int32, r structs.Ref) int {
	lf := &x.leaves[l]
	for i, other := range lf.refs[:lf.n] {
		if other == r {
			return i
		}
	}
	panic("ycrdt: item is not in its leaf")
}

func (x *Index) add(l int32, n int) {
	if n == 0 {
		return
	}
	pos := int(x.leaves[l].pos)
	x.sums[pos] += n
	if pos != x.cursor {
		x.cursorValid = false
	}
}

// splitLeaf moves the second half of the full leaf l into a new leaf. The results are
// the leaf and the slot that correspond to the given slot of l after the split. If that slot is the end of l, splitLeaf
// moves only a few items instead of half.
func (x *Index) splitLeaf(s *structs.Slab, l int32, at int) (int32, int) {
	half := leafCap / 2
	if at == leafCap {
		half = leafCap - 4
	}
	m := x.newLeaf()
	from, to := &x.leaves[l], &x.leaves[m]
	to.n = int32(copy(to.refs[:], from.refs[half:]))
	copy(to.units[:], from.units[half:])
	from.n = int32(half)
	moved := 0
	for i, r := range to.refs[:to.n] {
		s.LeafOf[r] = m
		moved += int(to.units[i])
	}
	pos := int(from.pos) + 1
	x.order, x.sums = slices.Insert(x.order, pos, m), slices.Insert(x.sums, pos, moved)
	x.sums[pos-1] -= moved
	x.renumber(pos)
	if at > half {
		return m, at - half
	}
	return l, at
}

func (x *Index) newLeaf() int32 {
	if n := len(x.freeLeaf); n > 0 {
		l := x.freeLeaf[n-1]
		x.freeLeaf = x.freeLeaf[:n-1]
		x.leaves[l] = leaf{}
		return l
	}
	x.leaves = append(x.leaves, leaf{})
	return int32(len(x.leaves) - 1)
}

func (x *Index) renumber(from int) {
	for pos := from; pos < len(x.order); pos++ {
		x.leaves[x.order[pos]].pos = int32(pos)
	}
	if x.cursor >= from-1 {
		x.cursorValid = false
	}
}

func (x *Index) remove(s *structs.Slab, r structs.Ref) {
	l := s.LeafOf[r]
	at := x.slot(l, r)
	lf := &x.leaves[l]
	n := int(lf.units[at])
	copy(lf.refs[at:], lf.refs[at+1:lf.n])
	copy(lf.units[at:], lf.units[at+1:lf.n])
	lf.n--
	x.add(l, -n)
	if lf.n == 0 {
		x.removeLeaf(l)
	}
}

// removeLeaf removes the empty leaf l, unless it is the only one.
func (x *Index) removeLeaf(l int32) {
	if len(x.order) == 1 {
		return
	}
	pos := int(x.leaves[l].pos)
	x.order, x.sums = slices.Delete(x.order, pos, pos+1), slices.Delete(x.sums, pos, pos+1)
	x.freeLeaf = append(x.freeLeaf, l)
	x.renumber(pos)
}

func (x *Index) Refresh(s *structs.Slab, r structs.Ref) {
	l := s.LeafOf[r]
	lf := &x.leaves[l]
	at := x.slot(l, r)
	n := s.Items[r].VisibleUnits()
	delta := int(n) - int(lf.units[at])
	lf.units[at] = n
	x.add(l, delta)
}

// Split updates the index after right was split off from left.
func (x *Index) Split(s *structs.Slab, left, right structs.Ref) {
	x.Refresh(s, left)
	x.InsertAfter(s, left, right)
}

// Merge updates the index. Call it before left absorbs right.
func (x *Index) Merge(s *structs.Slab, left, right structs.Ref) {
	n := s.Items[right].VisibleUnits()
	x.remove(s, right)
	if n > 0 {
		x.Grow(s, left, n)
	}
}

// Grow updates the index after n visible units were added to r.
func (x *Index) Grow(s *structs.Slab, r structs.Ref, n uint32) {
	l := s.LeafOf[r]
	x.leaves[l].units[x.slot(l, r)] += n
	x.add(l, int(n))
}

// Locate returns the item that contains the unit before position pos > 0, and the number of units of that item before
// pos.
func (x *Index) Locate(pos int) (structs.Ref, int) {
	if !x.cursorValid || pos <= x.cursorStart || pos > x.cursorStart+x.sums[x.cursor] {
		x.moveCursor(pos)
	}
	lf := &x.leaves[x.order[x.cursor]]
	pos -= x.cursorStart
	for i, n := range lf.units[:lf.n] {
		if pos <= int(n) {
			return lf.refs[i], pos
		}
		pos -= int(n)
	}
	panic("ycrdt: position beyond the end")
}

// Before returns the number of visible units before r.
func (x *Index) Before(s *structs.Slab, r structs.Ref) (n int) {
	l := s.LeafOf[r]
	lf := &x.leaves[l]
	for _, sum := range x.sums[:lf.pos] {
		n += sum
	}
	for _, units := range lf.units[:x.slot(l, r)] {
		n += int(units)
	}
	return n
}

func (x *Index) moveCursor(pos int) {
	start, i := 0, 0
	for ; start+x.sums[i] < pos; i++ {
		start += x.sums[i]
	}
	x.cursor, x.cursorStart, x.cursorValid = i, start, true
}
