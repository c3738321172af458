package diffwrap

import "strings"

// role says what a piece of the raw text is to the writer of a change.
type role uint8

const (
	kept    role = iota // text of the original that stays
	dropped             // text of the original that the writer's own pending deletion takes out
	own                 // the writer's own pending addition
	wall                // text that another author proposed: not to be changed
	note                // an open comment of somebody else's
	pin                 // what no view shows and nobody changes: another author's deletion, a highlight's edge
)

// piece is a stretch of the raw text in one role. What lies between the pieces is delimiters and metadata, and free
// to be written anew.
type piece struct {
	role
	span      // of raw: the text alone, but the whole mark of a wall, note or pin
	view span // where it stands in the accepted view
	cell *cell
}

// cut lists the pieces of the document, in order.
func (p *putter) cut() []piece {
	pieces := make([]piece, 0, len(p.doc.cells))
	view := 0
	add := func(r role, s span, c *cell, shown int) {
		pieces = append(pieces, piece{r, s, span{view, view + shown}, c})
		view += shown
	}
	for i := range p.doc.cells {
		c := &p.doc.cells[i]
		switch {
		case c.kind == textCell:
			add(kept, c.span, c, c.len())
		case c.kind == commentCell && c.resolved:
			add(pin, c.span, c, 0)
		case c.kind == commentCell && !p.own(c):
			add(note, c.span, c, c.len())
		case p.own(c):
			if !c.deleted.empty() {
				add(dropped, c.deleted, c, 0)
			}
			if !c.added.empty() {
				add(own, c.added, c, c.added.len())
			}
		case c.kind == additionCell || c.kind == substitutionCell:
			add(wall, c.span, c, c.added.len())
		default:
			add(pin, c.span, c, 0)
		}
	}
	return pieces
}

// noteSpans returns the spans of the open comments in the accepted view.
func (p *putter) noteSpans() []span {
	var out []span
	for _, x := range p.pieces {
		if x.cell.kind == commentCell && !x.view.empty() {
			out = append(out, x.view)
		}
	}
	return out
}

// comments finds the comments in new text, as far as a reader would be shown them.
func (p *putter) comments(text string) []span {
	var out []span
	for _, c := range commentsOf(text, p.doc.matter) {
		out = append(out, c.span)
	}
	return out
}

func (s span) shift(by int) span { return span{s.start + by, s.end + by} }

// shift moves spans; those that end up before 0 are left out.
func shift(spans []span, by int) []span {
	var out []span
	for _, s := range spans {
		if s = s.shift(by); s.start >= 0 {
			out = append(out, s)
		}
	}
	return out
}

// keepWalls takes text that another author proposed out of the hunks: where a hunk covers such a text and the new
// text still has it, the hunk is split around it; where it has not, the change is refused.
func (p *putter) keepWalls(hunks []hunk) ([]hunk, error) {
	out := make([]hunk, 0, len(hunks))
	for _, x := range p.pieces {
		if x.role != wall {
			continue
		}
		for len(hunks) > 0 && hunks[0].old.end <= x.view.start {
			out, hunks = append(out, hunks[0]), hunks[1:]
		}
		n := 0
		for n < len(hunks) && overlaps(hunks[n].old, x.view) {
			n++
		}
		if n == 0 {
			continue
		}
		before, after, ok := p.splitAround(hunks[0], hunks[n-1], x.view)
		if !ok {
			return nil, &RefusedError{Line: lineOf(p.old, x.view.start), Literal: x.of(p.doc.raw), Err: ErrForeign,
				advice: "leave that text as it is and change what is around it, or write a comment"}
		}
		hunks = append([]hunk{after}, hunks[n:]...)
		out = append(out, before)
	}
	return append(out, hunks...), nil
}

// overlaps reports whether a change of old touches the inside of x.
func overlaps(old, x span) bool {
	return old.start < x.end && old.end > x.start || x.empty() && old.start < x.start && old.end > x.start
}

// splitAround joins the hunks from first to last and splits the result around the text at x of the accepted view, at
// the occurrence of it in the new text that lies nearest.
func (p *putter) splitAround(first, last hunk, x span) (before, after hunk, ok bool) {
	old := span{min(first.old.start, x.start), max(last.old.end, x.end)}
	new := span{first.new.start - (first.old.start - old.start), last.new.end + (old.end - last.old.end)}
	at := nearest(new.of(p.new), x.of(p.old), x.start-old.start)
	if at < 0 {
		return hunk{}, hunk{}, false
	}
	at += new.start
	before = hunk{span{old.start, x.start}, span{new.start, at}}
	after = hunk{span{x.end, old.end}, span{at + x.len(), new.end}}
	return before, after, true
}

// nearest returns the offset of the occurrence of part in s that is nearest to want, -1 when there is none.
func nearest(s, part string, want int) int {
	if part == "" {
		return 0
	}
	best := -1
	for from := 0; ; {
		at := strings.Index(s[from:], part)
		if at < 0 {
			return best
		}
		at += from
		if best < 0 || abs(at-want) < abs(best-want) {
			best = at
		}
		if from = at + 1; from > len(s) || at > want {
			return best
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
