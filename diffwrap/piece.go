package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

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
	span.Span           // of raw: the text alone, but the whole mark of a wall, note or pin
	view      span.Span // where it stands in the accepted view
	cell      *critic.Cell
}

// cut lists the pieces of the document, in order.
func (p *putter) cut() []piece {
	pieces := make([]piece, 0, len(p.doc.Cells))
	view := 0
	add := func(r role, s span.Span, c *critic.Cell, shown int) {
		pieces = append(pieces, piece{r, s, span.New(view, view+shown), c})
		view += shown
	}
	for i := range p.doc.Cells {
		c := &p.doc.Cells[i]
		switch {
		case c.Kind == critic.Text:
			add(kept, c.Span, c, c.Len())
		case c.Kind == critic.Comment && c.Resolved:
			add(pin, c.Span, c, 0)
		case c.Kind == critic.Comment && !p.own(c):
			add(note, c.Span, c, c.Len())
		case p.own(c):
			if !c.Deleted.Empty() {
				add(dropped, c.Deleted, c, 0)
			}
			if !c.Added.Empty() {
				add(own, c.Added, c, c.Added.Len())
			}
		case c.Kind == critic.Addition || c.Kind == critic.Substitution:
			add(wall, c.Span, c, c.Added.Len())
		default:
			add(pin, c.Span, c, 0)
		}
	}
	return pieces
}

// noteSpans returns the spans of the open comments in the accepted view.
func (p *putter) noteSpans() []span.Span {
	var out []span.Span
	for _, x := range p.pieces {
		if x.cell.Kind == critic.Comment && !x.view.Empty() {
			out = append(out, x.view)
		}
	}
	return out
}

// comments finds the comments in new text, as far as a reader would be shown them.
func (p *putter) comments(text string) []span.Span {
	var out []span.Span
	for _, c := range p.doc.CommentsIn(text) {
		out = append(out, c.Span)
	}
	return out
}

// keepWalls takes text that another author proposed out of the hunks: where a hunk covers such a text and the new
// text still has it, the hunk is split around it; where it has not, the change is refused.
func (p *putter) keepWalls(hunks []align.Hunk) ([]align.Hunk, error) {
	out := make([]align.Hunk, 0, len(hunks))
	for _, x := range p.pieces {
		if x.role != wall {
			continue
		}
		for len(hunks) > 0 && hunks[0].Old.End <= x.view.Start {
			out, hunks = append(out, hunks[0]), hunks[1:]
		}
		n := 0
		for n < len(hunks) && overlaps(hunks[n].Old, x.view) {
			n++
		}
		if n == 0 {
			continue
		}
		before, after, ok := p.splitAround(hunks[0], hunks[n-1], x.view)
		if !ok {
			return nil, &RefusedError{Line: linebreak.LineOf(p.old, x.view.Start), Literal: x.Of(p.doc.Raw), Err: ErrForeign,
				advice: "leave that text as it is and change what is around it, or write a comment"}
		}
		hunks = append([]align.Hunk{after}, hunks[n:]...)
		out = append(out, before)
	}
	return append(out, hunks...), nil
}

// overlaps reports whether a change of old touches the inside of x.
func overlaps(old, x span.Span) bool {
	return old.Start < x.End && old.End > x.Start || x.Empty() && old.Start < x.Start && old.End > x.Start
}

// splitAround joins the hunks from first to last and splits the result around the text at x of the accepted view, at
// the occurrence of it in the new text that lies nearest.
func (p *putter) splitAround(first, last align.Hunk, x span.Span) (before, after align.Hunk, ok bool) {
	old := span.New(min(first.Old.Start, x.Start), max(last.Old.End, x.End))
	new := span.New(first.New.Start-(first.Old.Start-old.Start), last.New.End+(old.End-last.Old.End))
	at := nearest(new.Of(p.new), x.Of(p.old), x.Start-old.Start)
	if at < 0 {
		return align.Hunk{}, align.Hunk{}, false
	}
	at += new.Start
	before = align.Hunk{Old: span.New(old.Start, x.Start), New: span.New(new.Start, at)}
	after = align.Hunk{Old: span.New(x.End, old.End), New: span.New(at+x.Len(), new.End)}
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
