package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
)

// Mark is one addition, deletion or substitution in a raw text. The rest of its span is delimiters, metadata and
// attribution.
type Mark struct {
	Span
	Deleted, Added Span // the mark's text in the original view and in the accepted view
	Highlight      bool // the mark is inside a highlight
	Comment        bool // the mark deletes a comment or a part of one
}

// Content is text of the note without markup and comments.
type Content struct {
	Span
	Mark           int  // index of the mark that contains it; -1 for plain text
	Deleted, Added bool // whether the mark deletes or adds the text
}

// Layout splits a raw text into three lists, each in order: its marks, all its text, and its other syntax (comments,
// delimiters of highlights, and attribution without a mark).
func (k Known) Layout(raw string) (marks []Mark, text []Content, syntax []Span) {
	cells := k.parse(raw).Cells
	suggestions := 0
	for i := range cells {
		if cells[i].IsSuggestion() {
			suggestions++
		}
	}
	text, marks = make([]Content, 0, len(cells)), make([]Mark, 0, suggestions)
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Kind == critic.Text:
			text = append(text, Content{c.Span, -1, false, false})
		case c.IsSuggestion():
			if !c.Deleted().Empty() {
				text = append(text, Content{c.Deleted(), len(marks), true, false})
			}
			if !c.Added().Empty() {
				text = append(text, Content{c.Added(), len(marks), false, true})
			}
			marks = append(marks, Mark{c.Span, c.Deleted(), c.Added(), c.Highlight >= 0, c.Comment > 0})
		default:
			syntax = append(syntax, c.Span)
		}
	}
	return marks, text, syntax
}

// Texts returns the text after rejecting and after accepting every suggestion, without comments. A comment whose
// deletion is pending counts as text.
func (k Known) Texts(raw string) (original, accepted string) {
	doc := k.parse(raw)
	if doc.Plain() {
		return raw, raw
	}
	var o, a strings.Builder
	o.Grow(len(raw))
	a.Grow(len(raw))
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.Kind != critic.Comment {
			o.WriteString(c.Deleted().Of(raw))
			a.WriteString(c.Added().Of(raw))
		}
	}
	return o.String(), a.String()
}
