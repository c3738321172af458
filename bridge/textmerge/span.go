package textmerge

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Span is a piece of text that two states share: N bytes at A in the one and
// at B in the other.
type Span struct{ A, B, N int }

// Kept returns what an edit script leaves in place.
func Kept(size int, edits []diffwrap.Edit) []Span {
	var spans []Span
	a, b := 0, 0
	for _, e := range edits {
		if n := e.Off - a; n > 0 {
			spans = append(spans, Span{a, b, n})
		}
		b += e.Off - a + len(e.New)
		a = e.Off + e.Len
	}
	if a < size {
		spans = append(spans, Span{a, b, size - a})
	}
	return spans
}

// sharedRuns returns the spans, in UTF-16 units, of the characters that both
// lists of runs name. A CRDT keeps the order of characters, so both lists name
// them in the same order; what was brought back in another place is not shared.
func sharedRuns(base, cur []ycrdt.Run) []Span {
	index := newRunIndex(cur)
	var spans []Span
	pos := 0
	for _, r := range base {
		spans = index.appendShared(spans, r, pos)
		pos += r.Len
	}
	end := 0
	return slices.DeleteFunc(spans, func(s Span) bool {
		if s.B < end {
			return true
		}
		end = s.B + s.N
		return false
	})
}

// runIndex finds where a character of one state is in another.
type runIndex map[ycrdt.ClientID][]placedRun

type placedRun struct {
	clock uint64
	n     int
	pos   int // UTF-16 units
}

func newRunIndex(runs []ycrdt.Run) runIndex {
	index := make(runIndex)
	pos := 0
	for _, r := range runs {
		c := r.ID.Client
		index[c] = append(index[c], placedRun{r.ID.Clock, r.Len, pos})
		pos += r.Len
	}
	for _, placed := range index {
		slices.SortFunc(placed, func(x, y placedRun) int { return cmp.Compare(x.clock, y.clock) })
	}
	return index
}

// appendShared adds the pieces of run r, which lies at pos in its own state,
// that the indexed state holds too.
func (index runIndex) appendShared(spans []Span, r ycrdt.Run, pos int) []Span {
	placed := index[r.ID.Client]
	end := r.ID.Clock + uint64(r.Len)
	i, _ := slices.BinarySearchFunc(placed, r.ID.Clock, func(p placedRun, clock uint64) int {
		return cmp.Compare(p.clock+uint64(p.n)-1, clock)
	})
	for ; i < len(placed) && placed[i].clock < end; i++ {
		p := placed[i]
		from := max(p.clock, r.ID.Clock)
		to := min(p.clock+uint64(p.n), end)
		spans = append(spans, Span{
			A: pos + int(from-r.ID.Clock),
			B: p.pos + int(from-p.clock),
			N: int(to - from),
		})
	}
	return spans
}

// toBytes converts spans of UTF-16 units of two texts to spans of bytes, of whole
// characters. An identity does not vouch for its unit: of a surrogate pair that a client
// has cut, each half is a U+FFFD since. So the spans hold what is the same in both texts.
func toBytes(spans []Span, a, b string) []Span {
	ca, cb := NewCursor(a), NewCursor(b)
	out := make([]Span, 0, len(spans))
	for _, s := range spans {
		out = appendSame(out, &ca, &cb, s)
	}
	return out
}

// appendSame adds the characters that are the same in both texts within s, which counts
// UTF-16 units.
func appendSame(out []Span, ca, cb *Cursor, s Span) []Span {
	for done := 0; done < s.N; done = max(ca.pos-s.A, cb.pos-s.B) {
		same := Span{A: ca.OffAt(s.A + done), B: cb.OffAt(s.B + done)}
		switch {
		case same.A == len(ca.Text) || same.B == len(cb.Text):
			return out
		case ca.pos-s.A != cb.pos-s.B:
			continue // one is behind a pair of which the other has the halves
		}
		ca.step()
		cb.step()
		if ca.Text[same.A:ca.off] == cb.Text[same.B:cb.off] {
			same.N = ca.off - same.A
			out = appendSpan(out, same)
		}
	}
	return out
}

// appendSpan adds s, joined to the last span where it goes on from that in both texts.
func appendSpan(out []Span, s Span) []Span {
	if k := len(out) - 1; k >= 0 && out[k].A+out[k].N == s.A && out[k].B+out[k].N == s.B {
		out[k].N += s.N
		return out
	}
	return append(out, s)
}

// Flip exchanges the two sides.
func Flip(spans []Span) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		out[i] = Span{s.B, s.A, s.N}
	}
	return out
}

// Back is where a stretch of b was in a, if what they share has all of it in one piece.
func Back(shared []Span, s diffwrap.Span) (was diffwrap.Span, ok bool) {
	i, found := slices.BinarySearchFunc(shared, s.Start, func(x Span, at int) int { return x.B - at })
	if !found {
		i--
	}
	if i < 0 || s.End > shared[i].B+shared[i].N {
		return was, false
	}
	off := shared[i].A - shared[i].B
	return diffwrap.Span{Start: s.Start + off, End: s.End + off}, true
}

// Compose chains two ascending maps: what x takes from a to b and y from b to c.
func Compose(x, y []Span) []Span {
	var out []Span
	for i, j := 0, 0; i < len(x) && j < len(y); {
		from := max(x[i].B, y[j].A)
		to := min(x[i].B+x[i].N, y[j].A+y[j].N)
		if from < to {
			out = append(out, Span{x[i].A + from - x[i].B, y[j].B + from - y[j].A, to - from})
		}
		if x[i].B+x[i].N < y[j].A+y[j].N {
			i++
		} else {
			j++
		}
	}
	return out
}
