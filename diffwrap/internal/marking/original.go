package marking

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// original is the original text of a region: what stays and what is deleted, with the comments in it, which a change
// may take out or put back. What the writer itself adds is not in it, so that amending that leaves no trace.
type original struct {
	text  string
	notes []span.Span // the comments in text
	parts []part
	next  int // the first part that was not visited to its end
}

// part is a stretch of the original text, or a mark without text in it.
type part struct {
	role
	span.Span // of raw
	at        int
	size      int // in text; 0 for a mark without text
	view      int // where it starts in the accepted view
	cell      *critic.Cell
}

// original collects the original text of a region, with its comments.
func (e *emitter) original(r region) *original {
	o := &original{}
	var text strings.Builder
	for k := r.from.Piece; k < len(e.pieces) && e.pieces[k].Start < r.to.off; k++ {
		x := &e.pieces[k]
		p := part{role: x.role, Span: x.Span, at: text.Len(), view: x.View.Start, cell: x.cell}
		switch x.role {
		case own:
			continue
		case note, kept, dropped:
			p.Start, p.End = max(p.Start, r.from.off), min(p.End, r.to.off)
			if p.Empty() {
				continue
			}
			text.WriteString(p.Of(e.Doc.Raw))
		}
		p.size = text.Len() - p.at
		switch {
		case p.inComment(o.last()):
			o.notes[len(o.notes)-1].End = text.Len()
		case p.size > 0 && (x.role == note || x.cell.Comment > 0):
			o.notes = append(o.notes, span.New(p.at, text.Len()))
		}
		o.parts = append(o.parts, p)
	}
	o.text = text.String()
	return o
}

// last returns the last part, nil if there is none.
func (o *original) last() *part {
	if len(o.parts) == 0 {
		return nil
	}
	return &o.parts[len(o.parts)-1]
}

// inComment reports whether a part goes on with the deleted comment that another one is of.
func (p *part) inComment(before *part) bool {
	return before != nil && p.role == dropped && before.role == dropped && p.cell.Comment > 0 && p.cell.Comment == before.cell.Comment
}

// visit calls f for each part, or piece of one, in s. Spans must be visited in order. A part without text belongs to
// the span that starts at or before it, so that it stays behind what was changed directly before it.
func (o *original) visit(s span.Span, f func(part)) {
	for o.next < len(o.parts) {
		p := o.parts[o.next]
		end := p.at + p.size
		switch {
		case p.at >= s.End:
			return
		case p.size == 0:
			f(p)
		case max(p.at, s.Start) < min(end, s.End):
			first, last := max(p.at, s.Start), min(end, s.End)
			p.Span = span.New(p.Start+first-p.at, p.Start+last-p.at)
			f(p)
		}
		if end > s.End {
			return
		}
		o.next++
	}
}
