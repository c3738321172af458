// Package marking writes a change of the accepted view as marks in the raw text. It decides where a mark starts and ends, and
// refuses nothing; the caller checks that the result reads back right.
//
// Highlights and comments are furniture: they are in neither text. A highlight is never changed; marks go inside. An open
// comment of somebody else's is deleted like text, by marks around it that are cut at its edges and in its opener, so that
// it comes back with them. The writer's own comment is written and taken back as such, and one that waits for a decision as
// another author's suggestion is never changed.
package marking

import (
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Patch is a change of the accepted view that is to be written as marks.
type Patch struct {
	Doc                       *critic.Document
	Old, New                  string                  // the accepted view before and after
	RawBody, OldBody, NewBody int                     // where the body starts in the raw text and in the views
	Matter                    []span.Edit             // of what stands before the body
	Own                       func(*critic.Cell) bool // whether a cell is a suggestion or a comment of the writer
	Owners                    map[int]critic.Owner    // whose cells are, by their offsets, as far as that is known
	Stays                     func(*critic.Cell) bool // whether a comment of somebody else's waits for a decision
	Bare                      map[string]bool         // comments that the writer writes as such; others are text of an addition
	Literal                   map[string]bool         // what reads as a comment in new text, and is literal
	Metadata, Tail            string                  // what stands between the opener of a mark and its text, and after the mark
	pieces                    []Piece
	shown                     map[string]bool // the comments in Old
	newNotes                  []span.Span     // the comments in New
}

// Compare finds where the body changed: hunks from p.Old to p.New, none of which touches another author's text. If one
// would, it returns that text instead.
func (p *Patch) Compare() ([]align.Hunk, *Piece) {
	p.pieces = p.cut()
	body := p.New[p.NewBody:]
	before := align.Side{Text: p.Old[p.OldBody:], Comments: span.Shift(p.noteSpans(), -p.OldBody)}
	after := align.Side{Text: body, Comments: p.comments(body)}
	p.newNotes = span.Shift(after.Comments, p.NewBody)
	hunks := align.Exact(before, after)
	for k := range hunks {
		hunks[k].Old = hunks[k].Old.Shift(p.OldBody)
		hunks[k].New = hunks[k].New.Shift(p.NewBody)
	}
	return p.keepWalls(hunks)
}

// noteSpans returns the spans of the open comments in the accepted view, and sets p.shown.
func (p *Patch) noteSpans() []span.Span {
	var out []span.Span
	p.shown = make(map[string]bool)
	for _, x := range p.pieces {
		if x.cell.Kind == critic.Comment && !x.View.Empty() {
			out = append(out, x.View)
			p.shown[x.Of(p.Doc.Raw)] = true
		}
	}
	return out
}

// comments finds the comments in new text, as far as a reader would be shown them. Literal braces before a comment of the note may
// read as the opener of a longer one, which the note does not have.
func (p *Patch) comments(text string) []span.Span {
	var out []span.Span
	for _, c := range p.Doc.CommentsIn(text) {
		s := c.Span
		if read := c.Of(text); !p.shown[read] && !p.Bare[read] {
			if p.Literal[read] {
				continue
			}
			for at := 1; at < len(read); at++ {
				if read[at] == '{' && p.shown[read[at:]] {
					s.Start += at
					break
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// role says what a piece of the raw text is to the writer of a change.
type role uint8

const (
	kept    role = iota // text of the original that stays
	dropped             // text of the original that the writer's own pending deletion takes out
	own                 // the writer's own pending addition
	wall                // text or a comment that another author proposed: not to be changed
	note                // an open comment of somebody else's
	pin                 // what no view shows and nobody changes: another author's deletion, a highlight's edge
)

// Piece is a stretch of the raw text in one role. What lies between the pieces is delimiters and metadata, and free
// to be written again.
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
		case c.Kind == critic.Comment && !p.Own(c) && p.Stays(c):
			add(wall, c.Span, c, c.Len())
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
