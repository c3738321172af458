package textmerge

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Match is a piece that two states share: Len bytes at the offset A of the first state and at the offset B of the
// second.
type Match struct{ A, B, Len int }

func Unchanged(size int, edits []diffwrap.Edit) []Match {
	var spans []Match
	a, b := 0, 0
	for _, e := range edits {
		if n := e.Off - a; n > 0 {
			spans = append(spans, Match{a, b, n})
		}
		b += e.Off - a + len(e.New)
		a = e.Off + e.Len
	}
	if a < size {
		spans = append(spans, Match{a, b, size - a})
	}
	return spans
}

// sharedRuns returns the spans, in UTF-16 units, of the characters that both lists of runs have in the same order. A
// CRDT keeps the order of characters, except for text that was restored at another place. If the orders differ,
// sharedRuns selects spans that share as much text as possible.
func sharedRuns(base, current []ycrdt.Run) []Match {
	index := newRunIndex(current)
	var spans []Match
	pos := 0
	for _, r := range base {
		spans = index.appendShared(spans, r, pos)
		pos += r.Len
	}
	if slices.IsSortedFunc(spans, func(x, y Match) int { return x.B - y.B }) {
		return spans
	}
	return ascending(spans)
}

// ascending selects spans that also ascend in the second state, so that their text is as long as possible. The given
// spans ascend in the first state.
func ascending(spans []Match) []Match {
	byB := make([]int, len(spans))
	for i := range byB {
		byB[i] = i
	}
	slices.SortFunc(byB, func(i, j int) int { return spans[i].B - spans[j].B })
	rank := make([]int, len(spans))
	for r, i := range byB {
		rank[i] = r + 1
	}
	size, before := make([]int, len(spans)), make([]int, len(spans))
	best := make([]int, len(spans)+1) // a Fenwick tree by rank: the span that ends the longest chain, plus one
	longer := func(i, j int) bool { return j == 0 || i > 0 && size[i-1] > size[j-1] }
	last := 0
	for i, s := range spans {
		chain := 0
		for r := rank[i] - 1; r > 0; r -= r & -r {
			if best[r] > 0 && longer(best[r], chain) {
				chain = best[r]
			}
		}
		before[i], size[i] = chain, s.Len
		if chain > 0 {
			size[i] += size[chain-1]
		}
		for r := rank[i]; r < len(best); r += r & -r {
			if longer(i+1, best[r]) {
				best[r] = i + 1
			}
		}
		if longer(i+1, last) {
			last = i + 1
		}
	}
	var out []Match
	for ; last > 0; last = before[last-1] {
		out = append(out, spans[last-1])
	}
	slices.Reverse(out)
	return out
}

// runIndex finds the characters of a state by their identities.
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

// appendShared adds the parts of run r that the indexed state also has. pos is the position of r in its own state.
func (index runIndex) appendShared(spans []Match, r ycrdt.Run, pos int) []Match {
	placed := index[r.ID.Client]
	end := r.ID.Clock + uint64(r.Len)
	i, _ := slices.BinarySearchFunc(placed, r.ID.Clock, func(p placedRun, clock uint64) int {
		return cmp.Compare(p.clock+uint64(p.n)-1, clock)
	})
	for ; i < len(placed) && placed[i].clock < end; i++ {
		p := placed[i]
		from := max(p.clock, r.ID.Clock)
		to := min(p.clock+uint64(p.n), end)
		spans = append(spans, Match{
			A:   pos + int(from-r.ID.Clock),
			B:   p.pos + int(from-p.clock),
			Len: int(to - from),
		})
	}
	return spans
}

// toBytes converts spans of UTF-16 units of two texts to spans of bytes that consist of whole characters. Equal
// identities do not guarantee equal units: if a client splits a surrogate pair, each half becomes U+FFFD. So the result
// has only spans with equal text.
func toBytes(spans []Match, a, b string) []Match {
	ca, cb := NewCursor(a), NewCursor(b)
	out := make([]Match, 0, len(spans))
	for _, s := range spans {
		out = appendSame(out, &ca, &cb, s)
	}
	return out
}

// appendSame adds the equal characters of both texts within s, which is in UTF-16 units.
func appendSame(out []Match, ca, cb *Cursor, s Match) []Match {
	for done := 0; done < s.Len; done = max(ca.pos-s.A, cb.pos-s.B) {
		same := Match{A: ca.OffAt(s.A + done), B: cb.OffAt(s.B + done)}
		switch {
		case same.A == len(ca.Text) || same.B == len(cb.Text):
			return out
		case ca.pos-s.A != cb.pos-s.B:
			continue // only one text has the pair, and the other has two halves
		}
		ca.step()
		cb.step()
		if ca.Text[same.A:ca.off] == cb.Text[same.B:cb.off] {
			same.Len = ca.off - same.A
			out = appendMatch(out, same)
		}
	}
	return out
}

// appendMatch adds s. It merges s with the last span if they are adjacent in both texts.
func appendMatch(out []Match, s Match) []Match {
	if k := len(out) - 1; k >= 0 && out[k].A+out[k].Len == s.A && out[k].B+out[k].Len == s.B {
		out[k].Len += s.Len
		return out
	}
	return append(out, s)
}

func SwapSides(spans []Match) []Match {
	out := make([]Match, len(spans))
	for i, s := range spans {
		out[i] = Match{s.B, s.A, s.Len}
	}
	return out
}

// MapBack returns the range of the first state that corresponds to s in the second state. ok is false unless one shared
// span contains all of s.
func MapBack(shared []Match, s diffwrap.Span) (old diffwrap.Span, ok bool) {
	i, found := slices.BinarySearchFunc(shared, s.Start, func(x Match, at int) int { return x.B - at })
	if !found {
		i--
	}
	if i < 0 || s.End > shared[i].B+shared[i].Len {
		return old, false
	}
	off := shared[i].A - shared[i].B
	return diffwrap.Span{Start: s.Start + off, End: s.End + off}, true
}

// Compose chains two ascending maps: x maps a first state to a second, and y maps the second state to a third.
func Compose(x, y []Match) []Match {
	var out []Match
	for i, j := 0, 0; i < len(x) && j < len(y); {
		from := max(x[i].B, y[j].A)
		to := min(x[i].B+x[i].Len, y[j].A+y[j].Len)
		if from < to {
			out = append(out, Match{x[i].A + from - x[i].B, y[j].B + from - y[j].A, to - from})
		}
		if x[i].B+x[i].Len < y[j].A+y[j].Len {
			i++
		} else {
			j++
		}
	}
	return out
}
