package marking

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// place is a position in the raw text: an offset before, inside or at the end of a piece. The place after the last
// piece has the number of pieces as its index.
type place struct {
	piece int
	off   int // offset in raw
	view  int // offset in the accepted view
}

// region is a range whose marks are written again because something in it changed. It consists of whole lines, or is
// the part of a line between texts of other authors. The raw text outside of the regions stays unchanged.
type region struct {
	from, to place
	new      span.Span // new text of the region, in p.New
	old      *original
	lines    bool // the change may affect whole lines, lines with markers, or constructs that span lines
}

func (p *Patch) regions(changes []align.Hunk) []region {
	var out []region
	end := p.top()
	delta := p.NewBody - p.OldBody // new offset minus old offset before the region's changes
	for len(changes) > 0 {
		at := changes[0].Old.Start
		r := region{from: p.startBefore(p.pieceBefore(at), at)}
		if r.from.off < end.off {
			r.from = end
		}
		r.new.Start = r.from.view + delta
		r.to, changes, delta = p.regionEnd(r.from.piece, changes)
		r.new.End = r.to.view + delta
		r.old = p.original(r.from, r.to)
		r.lines = changesLines(r.old.text, r.new.Of(p.New))
		end = r.to
		out = append(out, r)
	}
	return p.widen(out)
}

// changesLines reports whether two texts have different numbers of lines, or one of the texts may have lines other than
// prose, or a part of a construct that spans lines.
func changesLines(old, new string) bool {
	return strings.Count(old, "\n") != strings.Count(new, "\n") || !allProse(old) || !allProse(new)
}

// allProse reports whether all lines of a text certainly start like lines of a paragraph, and neither open nor close a
// construct such as a link or code.
func allProse(text string) bool {
	if strings.ContainsAny(text, "[]`$%<>{}") {
		return false
	}
	for line := range strings.Lines(text) {
		if c := line[0]; c|0x20 < 'a' || c|0x20 > 'z' && c < 0x80 {
			if strings.Trim(line, "\r\n") != "" {
				return false
			}
		}
	}
	return true
}

// The limits of widening a region, on each side: maxWiden bytes, and maxTight blocks without blank lines between them.
const (
	maxWiden = 1 << 16
	maxTight = 8
)

// widen extends regions with changed lines to the blocks around them, up to another author's text. It joins regions
// that overlap after that.
func (p *Patch) widen(regions []region) []region {
	if !slices.ContainsFunc(regions, func(r region) bool { return r.lines }) {
		return regions
	}
	blocks := block.Scan(p.Old[p.OldBody:])
	var out []region
	for _, r := range regions {
		if r.lines {
			p.widenOne(&r, blocks)
		}
		for n := len(out) - 1; n >= 0 && r.from.off < out[n].to.off; n-- {
			r.join(out[n])
			out = out[:n]
		}
		out = append(out, r)
	}
	for k := range out {
		if r := &out[k]; r.lines {
			r.old = p.original(r.from, r.to)
		}
	}
	return out
}

// join merges into r the previous region, which ends after the start of r.
func (r *region) join(before region) {
	if before.from.off < r.from.off {
		r.from = before.from
	}
	r.new.Start = before.new.Start - (before.from.view - r.from.view)
	if before.to.off > r.to.off {
		r.new.End += before.to.view - r.to.view
		r.to = before.to
	}
	r.lines = true
}

// widenOne extends a region to the blocks that it touches and one more block on each side, with the line breaks around
// them. If there are no blank lines between blocks, it extends the region to more blocks.
func (p *Patch) widenOne(r *region, blocks []block.Block) {
	from, to := r.from.view-p.OldBody, r.to.view-p.OldBody
	first, _ := slices.BinarySearchFunc(blocks, from, func(b block.Block, at int) int { return cmp.Compare(b.Start, at) })
	last := max(0, first-1)
	for last < len(blocks) && blocks[last].End <= to {
		last++
	}
	start, end := p.OldBody, len(p.Old)
	body := p.Old[p.OldBody:]
	apart := func(k int) bool { return span.BreakLen(body[span.LineEnd(body, blocks[k].End):]) > 0 } // a blank line follows block k
	first, last = first-1, last+1
	for n := 0; n < maxTight && first > 0 && !apart(first-1); n++ {
		first--
	}
	for n := 0; n < maxTight && last < len(blocks) && !apart(last-1); n++ {
		last++
	}
	if first > 1 {
		start += span.LineEnd(body, blocks[first-2].End)
	}
	if last < len(blocks) {
		end = min(end, p.OldBody+span.LineEnd(body, blocks[last].End))
	}
	if r.from.view-start < maxWiden {
		if at := p.startAround(r.from, start); at.off < r.from.off {
			r.new.Start -= r.from.view - at.view
			r.from = at
		}
	}
	if end-r.to.view < maxWiden {
		if at := p.stopAround(r.to, end); at.off > r.to.off {
			r.new.End += at.view - r.to.view
			r.to = at
		}
	}
}

// startAround finds the last possible start of a region before the given place. The start is not after the given
// offset of the accepted view, unless another author's text is in between. In that case the start is after that text.
func (p *Patch) startAround(from place, at int) place {
	for k := from.piece - 1; k >= 0 && p.pieces[k].View.End > at; k-- {
		if x := &p.pieces[k]; x.role == roleForeignText {
			return place{k + 1, x.End, x.View.End}
		}
	}
	return p.startBefore(p.pieceBefore(at), at)
}

// stopAround finds the first possible end of a region after the given place. The end is not before the given offset of
// the accepted view, unless another author's text is in between. In that case the end is before that text.
func (p *Patch) stopAround(to place, at int) place {
	for k := to.piece; k < len(p.pieces) && p.pieces[k].View.Start < at; k++ {
		if x := &p.pieces[k]; x.role == roleForeignText {
			return place{k, x.Start, x.View.Start}
		}
	}
	return p.stopAfter(to.piece, at)
}

func (p *Patch) top() place {
	for k, x := range p.pieces {
		if x.End > p.RawBody {
			return place{k, p.RawBody, p.OldBody}
		}
	}
	return place{len(p.pieces), p.RawBody, p.OldBody}
}

// startBefore searches backward from piece k for the last possible start of a region that is not after the given offset
// of the accepted view. The start is before a line break, after another author's text, or at the start of the body.
func (p *Patch) startBefore(k, at int) place {
	top := p.top()
	for ; k >= top.piece; k-- {
		x := &p.pieces[k]
		if x.role == roleForeignText {
			return place{k + 1, x.End, x.View.End}
		}
		if x.role == roleOriginal {
			if brk, ok := p.breakBefore(k, at); ok && brk >= top.off {
				return place{k, brk, x.View.Start + brk - x.Start}
			}
		}
		at = x.View.Start
	}
	return top
}

// pieceBefore returns the index of the piece that has the character before an offset of the accepted view, or -1.
func (p *Patch) pieceBefore(at int) int {
	k, _ := slices.BinarySearchFunc(p.pieces, at, func(x Piece, at int) int { return x.View.Start - at })
	k--
	for k >= 0 && p.pieces[k].View.Empty() {
		k--
	}
	return k
}

// breakBefore returns the start, in raw, of the last line break in the unchanged piece k that ends at or before the
// given offset of the accepted view.
func (p *Patch) breakBefore(k, at int) (off int, ok bool) {
	x := &p.pieces[k]
	text := p.Doc.Raw[x.Start : x.Start+min(at, x.View.End)-x.View.Start]
	feed := strings.LastIndexByte(text, '\n')
	if feed < 0 {
		return 0, false
	}
	return x.Start + span.BreakStart(text, feed, 0), true
}

// regionEnd finds the end of the region that starts with changes[0], in pieces[from]. rest are the remaining changes,
// and delta is the new offset minus the old offset at the end.
func (p *Patch) regionEnd(from int, changes []align.Hunk) (end place, rest []align.Hunk, delta int) {
	for {
		at := changes[0].Old.End
		delta = changes[0].New.End - at
		changes = changes[1:]
		end = p.stopAfter(from, at)
		if len(changes) == 0 || !p.reaches(changes[0], end) {
			return end, changes, delta
		}
	}
}

// stopAfter searches forward from piece k for the first possible end of a region that is not before the given offset of
// the accepted view. The end is before an unchanged line break, before another author's text, or at the end of the
// text.
func (p *Patch) stopAfter(k, at int) place {
	for k = max(k, p.pieceBefore(at)); k < len(p.pieces); k++ {
		x := &p.pieces[k]
		if x.role == roleForeignText && x.View.Start >= at {
			return place{k, x.Start, x.View.Start}
		}
		if x.role != roleOriginal {
			continue
		}
		if off := x.Start + max(0, at-x.View.Start); off < x.End {
			if feed := strings.IndexByte(p.Doc.Raw[off:x.End], '\n'); feed >= 0 {
				brk := off + span.BreakStart(p.Doc.Raw[off:x.End], feed, 0)
				return place{k, brk, x.View.Start + brk - x.Start}
			}
		}
	}
	return place{len(p.pieces), len(p.Doc.Raw), len(p.Old)}
}

// reaches reports whether the next change belongs to the region that would end at stop.
func (p *Patch) reaches(c align.Hunk, stop place) bool {
	switch {
	case stop.piece == len(p.pieces):
		return true
	case p.pieces[stop.piece].role == roleForeignText:
		return c.Old.End <= stop.view
	}
	return c.Old.Start < stop.view+span.BreakLen(p.Doc.Raw[stop.off:])
}
