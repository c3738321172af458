package ycrdt

import (
	"slices"
	"sort"
)

// maxChunk is the most refs that a chunk lists before it is cut in two, and
// maxRange the most that one gathers by appending. Longer ones would cost no
// more space, but be slower to search.
const (
	maxChunk = 256
	maxRange = 512
)

// A chunk holds neighbouring structs of one client in clock order. While the
// refs follow one another, as they do after loading, it is only a range
// (refs == nil: base, base+1, ... base+n-1) and costs nothing per struct.
type chunk struct {
	first uint64 // clock of the first struct
	base  ref
	n     int32
	refs  []ref
}

func (c *chunk) len() int {
	if c.refs != nil {
		return len(c.refs)
	}
	return int(c.n)
}

func (c *chunk) at(i int) ref {
	if c.refs != nil {
		return c.refs[i]
	}
	return c.base + ref(i)
}

// A clockIndex lists all structs of one client in clock order. No chunk is
// empty. hint is the place of the last hit, or was before later changes.
type clockIndex struct {
	chunks []chunk
	hint   clockPos
}

// A clockPos is a place in a clockIndex. It is valid until the next change.
type clockPos struct {
	c, i int
}

func (x *clockIndex) at(p clockPos) ref { return x.chunks[p.c].at(p.i) }

// find returns the place of the struct that holds clock, which must be below
// the client's state. It looks first where it last found something and next to
// that.
func (s *store) find(x *clockIndex, clock uint64) clockPos {
	p := x.hint
	if p.c >= len(x.chunks) || clock < x.chunks[p.c].first ||
		(p.c+1 < len(x.chunks) && clock >= x.chunks[p.c+1].first) {
		p.c = sort.Search(len(x.chunks), func(i int) bool { return x.chunks[i].first > clock }) - 1
		p.i = 0
	}
	p.i = s.findInChunk(&x.chunks[p.c], p.i, clock)
	x.hint = p
	return p
}

// gallop is how far behind a hint a search goes in growing steps before it
// takes the whole chunk.
const gallop = 8

// findInChunk returns the index in ch of the struct that holds clock, which is
// in ch. Searches often go on where the last one ended.
func (s *store) findInChunk(ch *chunk, hint int, clock uint64) int {
	starts := func(i int) bool { return s.clockOf(&s.items[ch.at(i)]) <= clock }
	lo, hi := 0, ch.len() // the struct is in [lo, hi)
	if hint < hi {
		if !starts(hint) {
			hi = hint
		} else {
			lo = hint
			for step := 1; step <= gallop && lo+step < hi; step *= 2 {
				if !starts(lo + step) {
					hi = lo + step
					break
				}
				lo += step
			}
		}
	}
	for lo < hi-1 {
		if mid := int(uint(lo+hi) >> 1); starts(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// findItem returns the struct of the client with table index home that holds clock.
func (s *store) findItem(home uint32, clock uint64) ref {
	x := &s.clients[home].index
	return x.at(s.find(x, clock))
}

// next moves p one struct on; ok is false at the end.
func (x *clockIndex) next(p clockPos) (_ clockPos, ok bool) {
	p.i++
	if p.i == x.chunks[p.c].len() {
		p.c, p.i = p.c+1, 0
	}
	return p, p.c < len(x.chunks)
}

// prev moves p one struct back; ok is false at the start.
func (x *clockIndex) prev(p clockPos) (_ clockPos, ok bool) {
	p.i--
	if p.i < 0 {
		if p.c == 0 {
			return p, false
		}
		p.c--
		p.i = x.chunks[p.c].len() - 1
	}
	return p, true
}

// append adds the struct r, which starts at clock, at the end.
func (x *clockIndex) append(r ref, clock uint64) {
	if len(x.chunks) > 0 {
		c := &x.chunks[len(x.chunks)-1]
		switch {
		case c.refs == nil && c.base+ref(c.n) == r && c.n < maxRange:
			c.n++
			return
		case c.refs == nil && c.n < maxChunk/2:
			c.list()
			fallthrough
		case c.refs != nil && len(c.refs) < maxChunk:
			c.refs = append(c.refs, r)
			return
		}
	}
	x.chunks = append(x.chunks, chunk{first: clock, base: r, n: 1})
}

// list turns a range into a list of refs.
func (c *chunk) list() {
	c.refs = make([]ref, c.n, c.n+c.n/2+4)
	for i := range c.refs {
		c.refs[i] = c.base + ref(i)
	}
	c.n = 0
}

// insertAfter adds r after the place p and returns its place.
func (s *store) insertAfter(x *clockIndex, p clockPos, r ref) clockPos {
	if x.chunks[p.c].refs == nil {
		p = s.listAround(x, p)
	}
	c := &x.chunks[p.c]
	c.refs = slices.Insert(c.refs, p.i+1, r)
	p.i++
	if len(c.refs) > maxChunk {
		p = s.cutChunk(x, p)
	}
	return p
}

// cutChunk cuts the chunk of p in half.
func (s *store) cutChunk(x *clockIndex, p clockPos) clockPos {
	refs := x.chunks[p.c].refs
	half := len(refs) / 2
	right := chunk{
		first: s.clockOf(&s.items[refs[half]]),
		refs:  slices.Clone(refs[half:]),
	}
	x.chunks[p.c].refs = refs[:half]
	x.chunks = slices.Insert(x.chunks, p.c+1, right)
	if p.i >= half {
		return clockPos{p.c + 1, p.i - half}
	}
	return p
}

// listAround turns the part of a range chunk around p into a list, so that
// editing one place of a large loaded document leaves the rest a range.
func (s *store) listAround(x *clockIndex, p clockPos) clockPos {
	c := x.chunks[p.c]
	n := int(c.n)
	if n <= maxChunk*3/4 {
		x.chunks[p.c].list()
		return p
	}
	lo := max(0, p.i-maxChunk/4)
	hi := min(n, p.i+maxChunk/4)
	part := func(from, to int) chunk {
		return chunk{first: s.clockOf(&s.items[c.at(from)]), base: c.at(from), n: int32(to - from)}
	}
	parts := make([]chunk, 0, 3)
	if lo > 0 {
		parts = append(parts, part(0, lo))
		p.c, p.i = p.c+1, p.i-lo
	}
	middle := part(lo, hi)
	middle.list()
	at := p.c - len(parts)
	parts = append(parts, middle)
	if hi < n {
		parts = append(parts, part(hi, n))
	}
	x.chunks = slices.Replace(x.chunks, at, at+1, parts...)
	return p
}

// remove takes the struct at p, which was merged into its left neighbour, out
// and returns the place of that neighbour.
func (s *store) remove(x *clockIndex, p clockPos) clockPos {
	c := &x.chunks[p.c]
	if c.refs == nil && p.i != int(c.n)-1 && p.i != 0 {
		p = s.listAround(x, p)
		c = &x.chunks[p.c]
	}
	left, _ := x.prev(p)
	switch {
	case c.len() == 1:
		x.chunks = slices.Delete(x.chunks, p.c, p.c+1)
		return left
	case c.refs != nil:
		c.refs = slices.Delete(c.refs, p.i, p.i+1)
	case p.i == 0:
		c.base++
		c.n--
	default:
		c.n--
	}
	if p.i == 0 {
		c.first = s.clockOf(&s.items[c.at(0)])
	}
	return left
}

// truncate drops the structs from p on.
func (x *clockIndex) truncate(p clockPos) {
	if p.i > 0 {
		c := &x.chunks[p.c]
		if c.refs != nil {
			c.refs = c.refs[:p.i]
		} else {
			c.n = int32(p.i)
		}
		p.c++
	}
	clear(x.chunks[p.c:])
	x.chunks = x.chunks[:p.c]
}
