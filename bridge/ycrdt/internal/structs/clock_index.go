package structs

import (
	"slices"
	"sort"
)

// maxChunk is the number of refs above which a chunk is cut in two.
const maxChunk = 256

// A Chunk has adjacent structs of one client in clock order.
type Chunk struct {
	first uint64 // clock of the first struct
	refs  []Ref
}

func (c *Chunk) Len() int { return len(c.refs) }

func (c *Chunk) At(i int) Ref { return c.refs[i] }

// A ClockIndex lists all structs of one client in clock order. No chunk is empty. hint is the place that the last
// search found; later changes may have made it stale.
type ClockIndex struct {
	Chunks []Chunk
	hint   Pos
}

// A Pos is a place in a ClockIndex. It is valid until the next change.
type Pos struct {
	Chunk int
	Index int // index in the chunk
}

func (x *ClockIndex) At(p Pos) Ref { return x.Chunks[p.Chunk].At(p.Index) }

// Find returns the place of the struct that contains a clock below the client's next clock. It first looks at the
// place that the last search found, and next to it.
func (s *Set) Find(x *ClockIndex, clock uint64) Pos {
	p := x.hint
	if p.Chunk >= len(x.Chunks) || clock < x.Chunks[p.Chunk].first ||
		(p.Chunk+1 < len(x.Chunks) && clock >= x.Chunks[p.Chunk+1].first) {
		p.Chunk = sort.Search(len(x.Chunks), func(i int) bool { return x.Chunks[i].first > clock }) - 1
		p.Index = 0
	}
	p.Index = s.findInChunk(&x.Chunks[p.Chunk], p.Index, clock)
	x.hint = p
	return p
}

// gallop is the distance from a hint that a search covers in growing steps. After that it searches the whole chunk.
const gallop = 8

// findInChunk returns the index in ch of the struct that has clock, which ch must contain. hint is useful because a
// search often continues where the last one ended.
func (s *Set) findInChunk(ch *Chunk, hint int, clock uint64) int {
	starts := func(i int) bool { return s.Items[ch.At(i)].From() <= clock }
	lo, hi := 0, ch.Len() // the struct is in [lo, hi)
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

func (s *Set) FindItem(home uint32, clock uint64) Ref {
	x := &s.Clients[home].Index
	return x.At(s.Find(x, clock))
}

// Next returns the place after p. ok is false if p is the last place.
func (x *ClockIndex) Next(p Pos) (_ Pos, ok bool) {
	p.Index++
	if p.Index == x.Chunks[p.Chunk].Len() {
		p.Chunk, p.Index = p.Chunk+1, 0
	}
	return p, p.Chunk < len(x.Chunks)
}

// Prev returns the place before p. ok is false if p is the first place.
func (x *ClockIndex) Prev(p Pos) (_ Pos, ok bool) {
	p.Index--
	if p.Index < 0 {
		if p.Chunk == 0 {
			return p, false
		}
		p.Chunk--
		p.Index = x.Chunks[p.Chunk].Len() - 1
	}
	return p, true
}

func (x *ClockIndex) Last() Ref {
	c := &x.Chunks[len(x.Chunks)-1]
	return c.At(c.Len() - 1)
}

func (x *ClockIndex) Append(r Ref, clock uint64) {
	if n := len(x.Chunks); n > 0 && x.Chunks[n-1].Len() < maxChunk {
		c := &x.Chunks[n-1]
		c.refs = append(c.refs, r)
		return
	}
	x.Chunks = append(x.Chunks, Chunk{first: clock, refs: []Ref{r}})
}

func (s *Set) InsertAfter(x *ClockIndex, p Pos, r Ref) Pos {
	c := &x.Chunks[p.Chunk]
	c.refs = slices.Insert(c.refs, p.Index+1, r)
	p.Index++
	if len(c.refs) > maxChunk {
		p = s.cutChunk(x, p)
	}
	return p
}

func (s *Set) cutChunk(x *ClockIndex, p Pos) Pos {
	refs := x.Chunks[p.Chunk].refs
	half := len(refs) / 2
	right := Chunk{
		first: s.Items[refs[half]].From(),
		refs:  slices.Clone(refs[half:]),
	}
	x.Chunks[p.Chunk].refs = refs[:half]
	x.Chunks = slices.Insert(x.Chunks, p.Chunk+1, right)
	if p.Index >= half {
		return Pos{p.Chunk + 1, p.Index - half}
	}
	return p
}

// Remove removes the struct at p, which was merged into its left neighbour, and returns the place of that neighbour.
func (s *Set) Remove(x *ClockIndex, p Pos) Pos {
	c := &x.Chunks[p.Chunk]
	left, _ := x.Prev(p)
	if c.Len() == 1 {
		x.Chunks = slices.Delete(x.Chunks, p.Chunk, p.Chunk+1)
		return left
	}
	c.refs = slices.Delete(c.refs, p.Index, p.Index+1)
	if p.Index == 0 {
		c.first = s.Items[c.At(0)].From()
	}
	return left
}

func (x *ClockIndex) truncate(p Pos) {
	if p.Index > 0 {
		c := &x.Chunks[p.Chunk]
		c.refs = c.refs[:p.Index]
		p.Chunk++
	}
	clear(x.Chunks[p.Chunk:])
	x.Chunks = x.Chunks[:p.Chunk]
}

func (s *Set) ReplaceTail(x *ClockIndex, p Pos, refs []Ref) {
	if p.Index < x.Chunks[p.Chunk].Len() {
		x.truncate(p)
	} else {
		x.truncate(Pos{p.Chunk + 1, 0})
	}
	for _, r := range refs {
		x.Append(r, s.Items[r].From())
	}
}
