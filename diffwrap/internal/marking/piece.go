package marking

import (
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
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

// Piece is a stretch of the raw text in one role. What lies between the pieces is delimiters and metadata, and free
// to be written anew.
type Piece struct {
	role
	span.Span           // of raw: the text alone, but the whole mark of a wall, note or pin
	View      span.Span // where it stands in the accepted view
	cell      *critic.Cell
}

// cut lists the pieces of the document, in order.
func (p *Patch) cut() []Piece {
	pieces := make([]Piece, 0, len(p.Doc.Cells))
	view := 0
	add := func(r role, s span.Span, c *critic.Cell, shown int) {
		pieces = append(pieces, Piece{r, s, span.New(view, view+shown), c})
		view += shown
	}
	for i := range p.Doc.Cells {
		c := &p.Doc.Cells[i]
		switch {
		case c.Kind == critic.Text:
			add(kept, c.Span, c, c.Len())
		case c.Kind == critic.Comment && c.Resolved:
			add(pin, c.Span, c, 0)
		case c.Kind == critic.Comment && !p.Own(c):
			add(note, c.Span, c, c.Len())
		case p.Own(c):
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
