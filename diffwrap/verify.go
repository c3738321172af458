package diffwrap

import (
	"strings"
	"unsafe"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/marking"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// verify returns an error if a result does not parse back to the planned texts, or if parsers of a single form no
// longer agree about it (see critic.Document.AgreesAs). Causes are literal delimiters in a text, or a mark on the
// closing line of the front matter. A drawing without new marks only reverts the writer's own, which is always allowed.
func (p *putter) verify(d *marking.Drawing, doc *critic.Document) error {
	if !p.keepsFrontMatter(doc) {
		return refuseFrontMatter("would have a mark on its closing line", "end that line with a line break")
	}
	if p.readsBack(doc) && (len(d.Opens) == 0 || doc.AgreesAs(p.Doc)) {
		if at := doc.EndsHighlight(p.New); at >= 0 && len(d.Opens) > 0 && p.Doc.EndsHighlight(p.Old) < 0 {
			return &RefusedError{Line: span.LineOf(p.New, at), Literal: "==}", Err: ErrMark,
				advice: "it would end the highlight around it, so put a blank before the brace, as in \"== }\""}
		}
		return nil
	}
	at, literal := p.literalOpener()
	return &RefusedError{Line: span.LineOf(p.New, at), Literal: literal, Err: ErrAmbiguous,
		advice: "put a blank after the brace, as in \"{ ++\", or ask the user to make this change"}
}

// readsBack reports whether a result satisfies laws 1 and 3.
func (p *putter) readsBack(doc *critic.Document) bool {
	original, rejected := p.original, p.rejected(p.Doc)
	if p.matter.change != nil {
		original = p.matter.text + original[p.RawBody:]
		rejected = p.matter.text + rejected[p.RawBody:]
	}
	return doc.Shows(p.New) && doc.Render(OriginalView) == original && p.rejected(doc) == rejected
}

// rejected returns the document's text after a rejection of all suggestions. It leaves out the comments in p.Bare, and
// highlights that become empty.
func (p *putter) rejected(doc *critic.Document) string {
	if doc.Plain() {
		return doc.Raw
	}
	text := make([]byte, 0, len(doc.Raw))
	opened, cell := -1, 0 // length of text before the last opener of a highlight
	for i := range doc.Cells {
		c := &doc.Cells[i]
		left := c.Span
		switch {
		case c.IsSuggestion():
			left = c.Deleted()
		case c.Kind == critic.Comment && p.Bare[c.Of(doc.Raw)]:
			continue
		case c.Kind == critic.HighlightOpen:
			opened, cell = len(text), i
		case c.Kind == critic.HighlightClose && len(text) == opened+doc.Cells[cell].Len() && i > cell+1:
			text = text[:opened]
			continue
		}
		text = append(text, left.Of(doc.Raw)...)
	}
	return unsafe.String(unsafe.SliceData(text), len(text)) // without a copy
}

// literalOpener returns the most likely cause of a failure and its offset in the new text, or 0 if only the raw text
// has it. It tries, in order: an opener without a closer, a literal mark, the first delimiter in the new or the raw
// text, and a possible attribution.
func (p *putter) literalOpener() (at int, literal string) {
	doc := critic.Parse(p.New, critic.Known{})
	if doc.Unclosed >= 0 {
		return doc.Unclosed, p.New[doc.Unclosed : doc.Unclosed+3]
	}
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.Kind != critic.Text && c.Kind != critic.Comment {
			return c.Start, c.Of(p.New)
		}
	}
	if at, n := critic.FirstDelimiter(p.New); n > 0 {
		return at, p.New[at : at+n]
	}
	if at, n := critic.FirstDelimiter(p.Doc.Raw); n > 0 {
		return 0, p.Doc.Raw[at : at+n]
	}
	at = max(0, strings.IndexByte(p.New, '{'))
	return at, p.New[at:span.LineEnd(p.New, at)]
}
