package attribution

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// layOutLike is LayOut. If former is the layout of a similar text, it draws only a part of the text again: it copies the
// marks of the first and last bytes that both texts share with the same facts. It returns the part.
func (t *Table) layOutLike(former *Layout, raw string, known diffwrap.Known, u Units) (*Layout, diffwrap.Span) {
	whole := diffwrap.Span{End: len(raw)}
	if former == nil || former.Table != t || former.Units.facts == nil || u.facts == nil {
		return t.LayOut(raw, known, u), whole
	}
	first, last := former.shared(raw, u)
	known, part := known.Reread(raw, former.Known, first, last)
	if part == whole {
		return t.LayOut(raw, known, u), whole
	}
	by, byPos := len(raw)-len(former.Raw), u.end()-former.end()
	to := part.End - by
	marks, text, syntax := known.LayoutOf(raw, part)
	x := &Layout{Table: t, Units: u, Raw: raw, Known: known}
	k, _ := former.MarkAt(part.Start)
	n, _ := former.MarkAt(to)
	byMark := k + len(marks) - n
	x.Marks = splice(former.Marks, k, n, marks, func(m *diffwrap.Mark) {
		m.Span = m.Span.Shift(by)
		for _, s := range []*diffwrap.Span{&m.Deleted, &m.Added} {
			if s.End > 0 { // a mark without such a text has the zero Span
				*s = s.Shift(by)
			}
		}
	})
	x.MarkOwners = splice(former.MarkOwners, k, n, make([]markOwner, len(marks)), func(*markOwner) {})
	shift := func(at *OffsetSpan) { at.From, at.To = at.From+byPos, at.To+byPos }
	x.markOffsets = splice(former.markOffsets, k, n, make([]OffsetSpan, len(marks)), shift)
	for i := range text {
		if text[i].Mark >= 0 {
			text[i].Mark += k
		}
	}
	i, j := former.textAt(part.Start), former.textAt(to)
	x.Text = splice(former.Text, i, j, text, func(c *diffwrap.Content) {
		c.Span = c.Span.Shift(by)
		if c.Mark >= 0 {
			c.Mark += byMark
		}
	})
	x.TextOffsets = splice(former.TextOffsets, i, j, make([]OffsetSpan, len(text)), shift)
	syntaxAt := func(off int) int {
		f, _ := slices.BinarySearchFunc(former.Syntax, off, func(s diffwrap.Span, at int) int { return s.Start - at })
		return f
	}
	x.Syntax = splice(former.Syntax, syntaxAt(part.Start), syntaxAt(to), syntax, func(s *diffwrap.Span) { *s = s.Shift(by) })
	x.attribute(part)
	return x, part
}

// splice returns list with [from, to) replaced, and with the elements after that range changed by shift.
func splice[T any](list []T, from, to int, by []T, shift func(*T)) []T {
	out := slices.Concat(list[:from], by, list[to:])
	for i := from + len(by); i < len(out); i++ {
		shift(&out[i])
	}
	return out
}

// shared returns the numbers of bytes at the start and at the end of raw that have the same facts as in x, if they are
// the same bytes. u has the identities of raw.
func (x *Layout) shared(raw string, u Units) (first, last int) {
	n := min(len(x.Runs), len(u.Runs))
	same := func(i, k int) bool { return x.Units.facts[i] == u.facts[k] && x.Runs[i].Len == u.Runs[k].Len }
	a := 0
	for a < n && same(a, a) {
		a++
	}
	b := 0
	for b < n-a && same(len(x.Runs)-1-b, len(u.Runs)-1-b) {
		b++
	}
	cursor := textmerge.NewCursor(raw)
	from, to := len(raw), len(raw)
	if a < len(u.Runs) {
		from, _ = cursor.WholeAt(u.starts[a])
	}
	if b > 0 {
		to = cursor.OffAt(u.starts[len(u.Runs)-b])
	}
	return from, len(raw) - to
}
