package ytypes

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// An Index finds the item at a visible position of a list without a walk through the whole list. The first edit far
// from the start of a list builds it: loading, relaying and encoding a document need no index.
//
// Items are in list order in leaves, leaves in blocks, and blocks in one array. Every level stores the numbers of
// visible units of the level below. Slab.LeafOf has the leaf of an item, leaf.block the block of a leaf, and block.pos
// the place of a block.
type Index struct {
	leaves []leaf
	blocks []block
	order  []int32 // blocks in list order
	sums   []int   // number of visible units of each block, in list order

	freeLeaf []int32

	// The cursor is the leaf that the last search found, with the number of visible units before it.
	cursor      int32
	cursorStart int
	cursorValid bool
}

const (
	leafCap  = 32
	blockCap = 64
)

type leaf struct {
	block int32
	n     int32
	sum   int
	refs  [leafCap]structs.Ref
	units [leafCap]uint32 // number of visible units of each item
}

type block struct {
	pos    int32 // place in Index.order
	n      int32
	leaves [blockCap]int32
	sums   [blockCap]int
}

func NewIndex(s *structs.Slab, start structs.Ref) *Index {
	if len(s.LeafOf) < len(s.Items) {
		s.LeafOf = append(make([]int32, 0, cap(s.Items)), s.LeafOf...)
		s.LeafOf = s.LeafOf[:len(s.Items)]
	}
	x := &Index{}
	x.leaves = append(x.leaves, leaf{})
	x.blocks = append(x.blocks, block{n: 1})
	x.order, x.sums = append(x.order, 0), append(x.sums, 0)
	last := structs.Ref(0)
	for r := start; r != 0; r = s.Items[r].Right {
		x.InsertAfter(s, last, r)
		last = r
	}
	return x
}

func (x *Index) InsertAfter(s *structs.Slab, left, r structs.Ref) {
	l, at := x.blocks[x.order[0]].leaves[0], 0
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
	lf := &x.leaves[l]
	lf.sum += n
	b := &x.blocks[lf.block]
	b.sums[b.slot(l)] += n
	x.sums[b.pos] += n
	if l != x.cursor {
		x.cursorValid = false
	}
}

func (b *block) slot(l int32) int {
	for i, other := range b.leaves[:b.n] {
		if other == l {
			return i
		}
	}
	panic("ycrdt: leaf is not in its block")
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
	from.sum -= moved
	to.sum = moved
	x.insertLeaf(l, m, moved)
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

func (x *Index) insertLeaf(l, m int32, moved int) {
	if x.blocks[x.leaves[l].block].n == blockCap {
		x.splitBlock(x.leaves[l].block)
	}
	bi := x.leaves[l].block
	b := &x.blocks[bi]
	i := b.slot(l)
	b.sums[i] -= moved
	copy(b.leaves[i+2:b.n+1], b.leaves[i+1:b.n])
	copy(b.sums[i+2:b.n+1], b.sums[i+1:b.n])
	b.leaves[i+1], b.sums[i+1] = m, moved
	b.n++
	x.leaves[m].block = bi
}

func (x *Index) splitBlock(bi int32) {
	half := blockCap / 2
	if int(x.blocks[bi].pos) == len(x.order)-1 {
		half = blockCap - 8 // most lists grow at the end, so the old block stays nearly full
	}
	ni := int32(len(x.blocks))
	x.blocks = append(x.blocks, block{})
	from, to := &x.blocks[bi], &x.blocks[ni]
	to.n = int32(copy(to.leaves[:], from.leaves[half:]))
	copy(to.sums[:], from.sums[half:])
	from.n = int32(half)
	moved := 0
	for i, l := range to.leaves[:to.n] {
		x.leaves[l].block = ni
		moved += to.sums[i]
	}
	pos := int(from.pos) + 1
	x.order = slices.Insert(x.order, pos, ni)
	x.sums = slices.Insert(x.sums, pos, moved)
	x.sums[pos-1] -= moved
	x.renumber(pos)
}

func (x *Index) renumber(from int) {
	for pos := from; pos < len(x.order); pos++ {
		x.blocks[x.order[pos]].pos = int32(pos)
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
	b := &x.blocks[x.leaves[l].block]
	if b.n == 1 {
		x.removeBlock(b)
		return
	}
	i := b.slot(l)
	copy(b.leaves[i:], b.leaves[i+1:b.n])
	copy(b.sums[i:], b.sums[i+1:b.n])
	b.n--
	x.freeLeaf = append(x.freeLeaf, l)
	if l == x.cursor {
		x.cursorValid = false
	}
}

// removeBlock removes a block whose only leaf is empty, with that leaf. It does not remove the only block of the index.
func (x *Index) removeBlock(b *block) {
	if len(x.order) == 1 {
		return
	}
	pos := int(b.pos)
	l := b.leaves[0]
	x.order = slices.Delete(x.order, pos, pos+1)
	x.sums = slices.Delete(x.sums, pos, pos+1)
	x.renumber(pos)
	x.freeLeaf = append(x.freeLeaf, l)
	if l == x.cursor {
		x.cursorValid = false
	}
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
	if !x.cursorValid || pos <= x.cursorStart || pos > x.cursorStart+x.leaves[x.cursor].sum {
		x.moveCursor(pos)
	}
	lf := &x.leaves[x.cursor]
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
	b := &x.blocks[lf.block]
	for _, sum := range x.sums[:b.pos] {
		n += sum
	}
	for _, sum := range b.sums[:b.slot(l)] {
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
	b := &x.blocks[x.order[i]]
	j := 0
	for ; start+b.sums[j] < pos; j++ {
		start += b.sums[j]
	}
	x.cursor, x.cursorStart, x.cursorValid = b.leaves[j], start, true
}
