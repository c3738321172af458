package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// preferred returns the best place to which a hunk can be moved, judged by the lines around it. A hunk within a line
// does not move, because the marks of a line must depend on that line alone.
func (p *layout) preferred(h align.Hunk, limit span.Span) align.Hunk {
	if !strings.Contains(h.Old.Of(p.old.Text), "\n") && !strings.Contains(h.New.Of(p.new.Text), "\n") {
		return h
	}
	best, glued := h, 1<<30
	for _, m := range p.moved(h, limit) {
		if n := p.spoiledLines(m); n < glued {
			best, glued = m, n
		}
	}
	return best
}

// candidates lists the possible places of a hunk between its neighbours, the most readable first. It begins with the
// places to which the hunk can be moved. Then come hunks that include line breaks or a line around it, or leave out
// line breaks at its start.
func (p *layout) candidates(h align.Hunk, limit span.Span) []align.Hunk {
	out := p.moved(h, limit)
	for _, m := range out {
		out = append(out, p.widened(m, limit)...)
	}
	if !h.Old.Empty() && !h.New.Empty() {
		n := p.narrowed(h)
		out = append(append(out, n), p.widened(n, limit)...)
	}
	out = append(out, p.withLines(h, limit)...)
	return slices.DeleteFunc(out, func(x align.Hunk) bool { return x == h })
}

// maxLine is the maximum length in bytes of an unchanged line that a hunk may include.
const maxLine = 200

// withLines lists the hunks extended by an adjacent line: the line after the hunk, with or without its line break, or
// the line before it. That line is rewritten, and the lines after it keep their meaning.
func (p *layout) withLines(h align.Hunk, limit span.Span) (out []align.Hunk) {
	old := p.old.Text
	try := func(before, after int) {
		x := h.Grow(before, after)
		taken := before+after > 0 && before+after <= maxLine && x.Old.Start >= limit.Start && x.Old.End <= limit.End
		if taken && x.New.Start >= 0 && x.New.End <= len(p.new.Text) && !p.cuts(x) && p.comments(x) == p.comments(h) {
			out = append(out, x)
		}
	}
	if span.StartsLine(old, h.Old.End) {
		n := len(strings.TrimSuffix(firstLine(old[h.Old.End:]), "\r"))
		try(0, n)
		try(0, n+span.BreakLen(old[h.Old.End+n:]))
	}
	if from := span.LineStart(old, h.Old.Start); from < h.Old.Start {
		if from > 0 {
			from = span.BreakStart(old, from-1, 0)
		}
		try(h.Old.Start-from, 0)
	}
	return out
}

func (p *layout) comments(hunks ...align.Hunk) (n int) {
	for _, h := range hunks {
		n += len(align.Inside(p.old.Comments, h.Old))
	}
	return n
}

// narrowed removes from a hunk the line breaks at the start of both runs, and a leading pipe of a table, because a mark
// may be inside a cell, but not before it.
func (p *layout) narrowed(h align.Hunk) align.Hunk {
	for !h.Old.Empty() && !h.New.Empty() {
		old, new := p.old.Text[h.Old.Start], p.new.Text[h.New.Start]
		if old != new || old != '\r' && old != '\n' && old != '|' {
			break
		}
		h = h.Grow(-1, 0)
		if old == '|' {
			break
		}
	}
	return h
}

// The limits of moving a hunk: maxMove is the maximum distance in bytes. The search upward stops at maxMoves places,
// and the search downward after it stops at 2*maxMoves places in all.
const (
	maxMove  = 4 << 10
	maxMoves = 8
)

// moved lists the places at which a hunk has the same effect: at the ends and starts of lines, and after line markers.
func (p *layout) moved(h align.Hunk, limit span.Span) []align.Hunk {
	type placed struct {
		align.Hunk
		rank, by int
	}
	var list []placed
	try := func(h align.Hunk, by int) {
		if rank := p.rank(h); rank >= 0 {
			list = append(list, placed{h, rank, by})
		}
	}
	try(h, 0)
	old, new := p.old.Text, p.new.Text
	for x, by := h, 1; by < maxMove && len(list) < maxMoves && x.Old.Start > limit.Start; by++ {
		c := old[x.Old.Start-1]
		if !x.Old.Empty() && old[x.Old.End-1] != c || !x.New.Empty() && new[x.New.End-1] != c || new[x.New.Start-1] != c {
			break
		}
		x = x.Shift(-1)
		try(x, by)
	}
	for x, by := h, 1; by < maxMove && len(list) < 2*maxMoves && x.Old.End < limit.End; by++ {
		c := old[x.Old.End]
		if !x.Old.Empty() && old[x.Old.Start] != c || !x.New.Empty() && new[x.New.Start] != c || new[x.New.End] != c {
			break
		}
		x = x.Shift(1)
		try(x, by)
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Or(a.rank-b.rank, a.by-b.by) })
	out := make([]align.Hunk, len(list))
	for k, x := range list {
		out[k] = x.Hunk
	}
	return out
}

type Place struct {
	Name string
	is   func(p *layout, h align.Hunk) bool
}

// Places lists the places for a mark, the most readable first.
var Places = []Place{
	{"line break first", fromLineEnds},
	{"whole lines", fromLineStarts},
	{"on a blank line", fromBlankLines},
	{"behind a marker", behindMarkers},
}

// rank rates the place of a hunk. Lower is better, and -1 is invalid.
func (p *layout) rank(h align.Hunk) int {
	if p.cuts(h) {
		return -1
	}
	return slices.IndexFunc(Places, func(x Place) bool { return x.is(p, h) })
}

func (p *layout) leads(h align.Hunk) bool {
	return span.StartsWithBreak(h.Old.Of(p.old.Text)) && span.StartsWithBreak(h.New.Of(p.new.Text))
}

func (p *layout) startsLine(off int) bool {
	return span.StartsLine(p.old.Text, off) && !(p.fragment && off == 0)
}

func fromLineEnds(p *layout, h align.Hunk) bool {
	return p.leads(h) && !p.startsLine(h.Old.Start)
}

func fromLineStarts(p *layout, h align.Hunk) bool {
	return !p.leads(h) && p.startsLine(h.Old.Start)
}

func fromBlankLines(p *layout, h align.Hunk) bool {
	return p.leads(h) && p.startsLine(h.Old.Start)
}

func behindMarkers(p *layout, h align.Hunk) bool {
	old := p.old.Text
	near := old[max(0, h.Old.Start-maxMarker):h.Old.Start]
	from := h.Old.Start - len(near) + strings.LastIndexByte(near, '\n') + 1
	line := firstLine(old[from:])
	m := markdown.Marker(line)
	if block.IsRow(line) {
		m = span.Skip(line, 0, " |")
	}
	return m > 0 && from+m == h.Old.Start && p.startsLine(from)
}

const maxMarker = 64

// cuts reports whether a hunk starts or ends inside a line break or a comment.
func (p *layout) cuts(h align.Hunk) bool {
	for _, x := range []struct {
		align.Side
		span.Span
	}{{p.old, h.Old}, {p.new, h.New}} {
		for _, at := range []int{x.Start, x.End} {
			if at > 0 && at < len(x.Text) && x.Text[at-1] == '\r' && x.Text[at] == '\n' || align.InComment(x.Comments, at) {
				return true
			}
		}
	}
	return false
}

// maxBreaks is the maximum number of line breaks by which a hunk is extended on each side.
const maxBreaks = 2

// widened lists the hunks extended by up to maxBreaks line breaks before and after.
func (p *layout) widened(h align.Hunk, limit span.Span) (out []align.Hunk) {
	before := []int{0}
	for at := h.Old.Start; len(before) <= maxBreaks && at > limit.Start && p.old.Text[at-1] == '\n'; {
		at = span.BreakStart(p.old.Text, at-1, limit.Start)
		before = append(before, h.Old.Start-at)
	}
	after := []int{0}
	for at := h.Old.End; len(after) <= maxBreaks && at < limit.End; {
		n := span.BreakLen(p.old.Text[at:limit.End])
		if n == 0 {
			break
		}
		at += n
		after = append(after, at-h.Old.End)
	}
	for _, e := range after {
		for _, b := range before {
			x := h.Grow(b, e)
			if b+e > 0 && x.New.Start >= 0 && x.New.End <= len(p.new.Text) && !p.cuts(x) {
				out = append(out, x)
			}
		}
	}
	return out
}
