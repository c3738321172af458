// Package marking writes a change of the accepted view as marks in the raw text. A [Patch] is the change. Its method
// Compare finds the changed ranges (hunks). Write turns them into edits of the raw text, and calls package placement to
// choose where the marks of lines begin and end. Made lists the suggestions that result. If the change would touch
// another author's proposed text, Compare returns that text, and the caller refuses the change. The caller also
// verifies the result of Write.
//
// Delimiters of highlights and resolved comments are in no view. They never change, except that a highlight is removed
// when it becomes empty; marks go inside a highlight. Another author's open comment is part of the accepted view and of
// a region's original text. It is deleted like text, by marks that are cut at its edges and in its opener, so that a
// rejection restores it. The writer's own comments are written and removed without marks. A comment of another author
// that awaits a decision never changes.
package marking

import (
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Patch struct {
	Doc                       *critic.Document
	Old, New                  string                  // accepted view before and after
	RawBody, OldBody, NewBody int                     // start of the body in the raw text and the views
	Matter                    []span.Edit             // edits before the body
	Own                       func(*critic.Cell) bool // reports whether a cell is a suggestion or comment of the writer
	Owners                    map[int]critic.Owner    // known owners of cells, by offset
	Fixed                     map[string]bool         // suggestions of the writer's earlier sessions that the change leaves alone
	Bare                      map[string]bool         // comments to write as such; others are added text
	OfNote                    map[string]bool         // comments that the note has, or had before the writer deleted them
	Metadata, Tail            string                  // text after the opener of a mark, and after the mark
	pieces                    []Piece
	sizes                     map[int]bool // sizes of the comments in OfNote
	oldNotes, newNotes        []span.Span  // the comments in Old and New
	comparer                  align.Comparer
}

// Compare finds the changes of the body: hunks from p.Old to p.New that do not touch another author's proposed text. If
// a hunk would touch such a text, Compare returns that text instead. It removes from p.Fixed the suggestions that the
// writer changes.
func (p *Patch) Compare() ([]align.Hunk, *Piece) {
	p.pieces = p.cut()
	p.sizes = make(map[int]bool)
	for note := range p.OfNote {
		p.sizes[len(note)] = true
	}
	body := p.New[p.NewBody:]
	p.oldNotes = p.noteSpans()
	before := align.Side{Text: p.Old[p.OldBody:], Comments: span.Shift(p.oldNotes, -p.OldBody)}
	after := align.Side{Text: body, Comments: p.comments(body)}
	p.newNotes = span.Shift(after.Comments, p.NewBody)
	hunks := p.comparer.Exact(before, after)
	for k := range hunks {
		hunks[k].Old = hunks[k].Old.Shift(p.OldBody)
		hunks[k].New = hunks[k].New.Shift(p.NewBody)
	}
	hunks = p.keepWords(hunks)
	for {
		n := len(p.Fixed)
		out, wall := p.keepForeign(hunks)
		if wall == nil {
			p.releaseChanged(out)
		}
		if wall != nil || len(p.Fixed) == n {
			return out, wall
		}
		p.pieces = p.cut()
	}
}

func (p *Patch) keepWords(hunks []align.Hunk) []align.Hunk {
	return p.comparer.KeepWords(align.Side{Text: p.Old, Comments: p.oldNotes}, align.Side{Text: p.New, Comments: p.newNotes}, hunks, false)
}

// noteSpans returns the spans of the open comments in the accepted view.
func (p *Patch) noteSpans() []span.Span {
	var out []span.Span
	for _, x := range p.pieces {
		if x.cell.Kind == critic.Comment && !x.View.Empty() {
			out = append(out, x.View)
		}
	}
	return out
}

// comments finds the comments in new text. What else looks like one is literal text. Literal braces before a comment of
// the note may parse as the opener of a longer comment, which the note does not have; comments then returns the comment
// of the note.
func (p *Patch) comments(text string) []span.Span {
	var out []span.Span
	for _, c := range critic.CommentsIn(text) {
		if read := c.Of(text); p.OfNote[read] || p.Bare[read] {
			out = append(out, c.Span)
			continue
		}
		if note := p.noteWithin(text, c.Span); !note.Empty() {
			out = append(out, note)
		}
	}
	return out
}

// noteWithin finds a comment of the note that ends with a longer comment. Relay's comments end with a second brace.
func (p *Patch) noteWithin(text string, c span.Span) (note span.Span) {
	for at := c.Start + 1; at < c.End; at++ {
		if text[at] != '{' {
			continue
		}
		for _, end := range []int{min(c.End+1, len(text)), c.End} {
			if p.sizes[end-at] && p.OfNote[text[at:end]] {
				return span.New(at, end)
			}
		}
	}
	return note
}

type role uint8

const (
	roleOriginal       role = iota // text outside of marks
	roleDropped                    // original text that the writer's own pending deletion deletes
	roleOwn                        // the writer's own pending addition
	roleForeignText                // another author's addition, substitution, or comment that awaits a decision; immutable
	roleForeignComment             // another author's open comment
	roleForeignHidden              // immutable and not in the accepted view, such as another author's deletion or a highlight's delimiter
)

// Piece is a range of the raw text with one role. Between pieces are delimiters and metadata, which may be rewritten.
type Piece struct {
	role
	span.Span           // range in raw: the text without delimiters; for foreign text, comments and hidden parts the whole mark
	View      span.Span // range in the accepted view
	cell      *critic.Cell
}

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
			add(roleOriginal, c.Span, c, c.Len())
		case c.Kind == critic.Comment && c.Resolved:
			add(roleForeignHidden, c.Span, c, 0)
		case c.Kind == critic.Comment && !p.Own(c) && p.Owners[c.Start].Access == critic.Waiting:
			add(roleForeignText, c.Span, c, c.Len())
		case c.Kind == critic.Comment && !p.Own(c):
			add(roleForeignComment, c.Span, c, c.Len())
		case p.Own(c):
			if !c.Deleted().Empty() {
				add(roleDropped, c.Deleted(), c, 0)
			}
			if !c.Added().Empty() {
				add(roleOwn, c.Added(), c, c.Added().Len())
			}
		case c.Kind == critic.Addition || c.Kind == critic.Substitution:
			add(roleForeignText, c.Span, c, c.Added().Len())
		default:
			add(roleForeignHidden, c.Span, c, 0)
		}
	}
	return pieces
}
