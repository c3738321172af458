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

// preferred is the best place of those that a hunk can be moved to, as far as the lines around it tell. One within a line stays: what
// a line shows depends on that line alone.
func (p *page) preferred(h align.Hunk, limit span.Span) align.Hunk {
	if !strings.Contains(h.Old.Of(p.old.Text), "\n") && !strings.Contains(h.New.Of(p.new.Text), "\n") {
		return h
	}
	best, glued := h, 1<<30
	for _, m := range p.moved(h, limit) {
		if n := p.glued(m); n < glued {
			best, glued = m, n
		}
	}
	return best
}

// candidates lists the places that a hunk can have between its neighbours, the most readable first: those that it can be moved
// to, then those that take line breaks around it in.
func (p *page) candidates(h align.Hunk, limit span.Span) []align.Hunk {
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

// maxLine is how long a line may be that stays and is written again.
const maxLine = 200

// withLines lists the hunks that take in the line that a hunk touches: the one behind it, without its line break or with it, and
// the one before it. That line is written again, and all that follows it is safe.
func (p *page) withLines(h align.Hunk, limit span.Span) (out []align.Hunk) {
	old := p.old.Text
	try := func(before, behind int) {
		x := h.Grow(before, behind)
		taken := before+behind > 0 && before+behind <= maxLine && x.Old.Start >= limit.Start && x.Old.End <= limit.End
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

// comments counts the comments that hunks take.
func (p *page) comments(hunks ...align.Hunk) (n int) {
	for _, h := range hunks {
		n += len(align.Inside(p.old.Comments, h.Old))
	}
	return n
}

// narrowed leaves the line breaks that both runs of a hunk start with out of it, and the pipe with which a table starts: a mark
// may stand in a cell, and not before it.
func (p *page) narrowed(h align.Hunk) align.Hunk {
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

// A hunk is moved by so many bytes, to so many places on either side.
const (
	maxMove  = 4 << 10
	maxMoves = 8
)

// moved lists where a hunk can stand when what it takes and adds stays the same: at the ends and starts of lines, and behind
// the markers of lines.
func (p *page) moved(h align.Hunk, limit span.Span) []align.Hunk {
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

// Place is a rule about where a hunk can stand.
type Place struct {
	markdown.Rule
	is func(p *page, h align.Hunk) bool
}

// Places are all there are, the most readable first.
var Places = []Place{
	{markdown.NewRule("line break first", "whole lines come or go", "the mark begins with a line break, at the end of a line that stays",
		"- a{++\n- b++}\n- c"), fromLineEnds},
	{markdown.NewRule("whole lines", "no mark can stand at the end of the line before", "it begins at the start of a line",
		"Old. ^id\n{++New.\n++}"), fromLineStarts},
	{markdown.NewRule("on a blank line", "a mark would stand on a line of a block that stays, and a blank line is near", "it begins on that",
		"# One\n{++\n# Two\n++}\n---"), fromBlankLines},
	{markdown.NewRule("behind a marker", "lines above others that begin alike come or go", "the mark begins behind a marker, or a row's first pipe",
		"# {++One\n\n# ++}Two"), behindMarkers},
}

// rank says how well a hunk stands: the less the better, -1 not at all.
func (p *page) rank(h align.Hunk) int {
	if p.cuts(h) {
		return -1
	}
	return slices.IndexFunc(Places, func(x Place) bool { return x.is(p, h) })
}

// leads reports whether both runs of a hunk begin with a line break, if they are not empty.
func (p *page) leads(h align.Hunk) bool {
	return span.StartsWithBreak(h.Old.Of(p.old.Text)) && span.StartsWithBreak(h.New.Of(p.new.Text))
}

func fromLineEnds(p *page, h align.Hunk) bool {
	return p.leads(h) && !span.StartsLine(p.old.Text, h.Old.Start)
}

func fromLineStarts(p *page, h align.Hunk) bool {
	return !p.leads(h) && span.StartsLine(p.old.Text, h.Old.Start)
}

func fromBlankLines(p *page, h align.Hunk) bool {
	return p.leads(h) && span.StartsLine(p.old.Text, h.Old.Start)
}

func behindMarkers(p *page, h align.Hunk) bool {
	old := p.old.Text
	near := old[max(0, h.Old.Start-maxMarker):h.Old.Start]
	from := h.Old.Start - len(near) + strings.LastIndexByte(near, '\n') + 1
	line := firstLine(old[from:])
	m := markdown.Marker(line)
	if block.IsRow(line) {
		m = markdown.Skip(line, 0, " |")
	}
	return m > 0 && from+m == h.Old.Start && span.StartsLine(old, from)
}

// maxMarker is how long a line's marker may be.
const maxMarker = 64

// cuts reports whether a hunk begins or ends inside of a line break or of a comment.
func (p *page) cuts(h align.Hunk) bool {
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

// maxBreaks is how many line breaks a hunk may take in on either side.
const maxBreaks = 2

// widened lists the hunks that take up to so many line breaks before and behind a hunk in, on both sides.
func (p *page) widened(h align.Hunk, limit span.Span) (out []align.Hunk) {
	before := []int{0}
	for at := h.Old.Start; len(before) <= maxBreaks && at > limit.Start && p.old.Text[at-1] == '\n'; {
		at = span.BreakStart(p.old.Text, at-1, limit.Start)
		before = append(before, h.Old.Start-at)
	}
	behind := []int{0}
	for at := h.Old.End; len(behind) <= maxBreaks && at < limit.End; {
		n := span.BreakLen(p.old.Text[at:limit.End])
		if n == 0 {
			break
		}
		at += n
		behind = append(behind, at-h.Old.End)
	}
	for _, e := range behind {
		for _, b := range before {
			x := h.Grow(b, e)
			if b+e > 0 && x.New.Start >= 0 && x.New.End <= len(p.new.Text) && !p.cuts(x) {
				out = append(out, x)
			}
		}
	}
	return out
}
