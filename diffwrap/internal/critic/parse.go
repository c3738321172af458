// Package critic parses CriticMarkup: it splits a raw text into cells, renders views, reads the attribution of marks,
// and groups the marks that a user decides together. It changes nothing.
package critic

import (
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Kind uint8

const (
	Text Kind = iota
	Addition
	Deletion
	Substitution
	Comment
	HighlightOpen
	HighlightClose
	Hidden // attribution that no view shows; see dialect.go
)

// Cell is one piece of the raw text. The cells of a document are contiguous.
//
// A note may have many cells, and each change allocates them anew, so a cell is small.
type Cell struct {
	Kind      Kind
	Resolved  bool         // the cell is a resolved comment, which views hide
	literal   bool         // the cell is a known deletion of literal text that may be part of a comment
	Comment   int32        // deletions that together delete one comment have the same number; others have 0
	Highlight int32        // index of the cell that opens the highlight around this cell; -1 outside of highlights
	half      int32        // length of the first half of a substitution
	tail      int32        // length of the dialect's tail after the closing delimiter
	span.Span              // range in raw, with delimiters, metadata and the dialect's tail
	Body      span.Span    // text between the delimiters, after the metadata
	by        *Attribution // nil if unknown
}

// By returns the cell's attribution, or a zero one.
func (c *Cell) By() (a Attribution) {
	if c.by != nil {
		a = *c.by
	}
	return a
}

func (c *Cell) attribute(a Attribution) {
	if c.by = nil; a != (Attribution{}) {
		by := a // a itself stays off the heap: most marks have no attribution
		c.by = &by
	}
}

// Added returns the text in the accepted view, or a zero range.
func (c *Cell) Added() (s span.Span) {
	switch c.Kind {
	case Text:
		s = c.Span
	case Addition:
		s = c.Body
	case Substitution:
		s = span.New(c.Body.Start+int(c.half)+len(arrow), c.Body.End)
	case Comment:
		if !c.Resolved {
			s = c.Span
		}
	}
	return s
}

// Deleted returns the text in the original view, or a zero range.
func (c *Cell) Deleted() (s span.Span) {
	switch c.Kind {
	case Text:
		s = c.Span
	case Deletion:
		s = c.Body
	case Substitution:
		s = span.New(c.Body.Start, c.Body.Start+int(c.half))
	}
	return s
}

// Attribution is a dialect's data about the writer of a mark.
type Attribution struct {
	Author string
	Time   time.Time
}

func (c *Cell) IsSuggestion() bool {
	return c.Kind == Addition || c.Kind == Deletion || c.Kind == Substitution
}

// Kept returns the part of a mark that remains after a decision.
func (c *Cell) Kept(accept bool) span.Span {
	switch {
	case accept && !c.Added().Empty():
		return c.Added()
	case !accept && !c.Deleted().Empty():
		return c.Deleted()
	}
	return span.New(c.End, c.End)
}

// Reduce appends the edits that reduce a cell to the given range.
func (c *Cell) Reduce(edits []span.Edit, left span.Span) []span.Edit {
	edits = span.Append(edits, span.Edit{Off: c.Start, Len: left.Start - c.Start})
	return span.Append(edits, span.Edit{Off: left.End, Len: c.End - left.End})
}

func (c *Cell) visible(v View) span.Span {
	switch {
	case v == AcceptedView:
		return c.Added()
	case c.Comment > 0:
		return span.New(c.End, c.End)
	}
	return c.Deleted()
}

type Document struct {
	Raw      string
	Cells    []Cell
	Unclosed int   // offset of the first opener without a closer, -1 if there is none
	Known    Known // known marks
	Literal  []int // start offsets of well-formed marks that are literal text
	// OwnerAt returns the owner of the mark at an offset, unless it is nil. Adjacent marks are one suggestion only if
	// they have the same owner.
	OwnerAt func(start int) Owner
}

func (d *Document) Counted() Known {
	if d.Known.every {
		return d.Known
	}
	offsets := make([]int, 0, max(len(d.Known.offsets), len(d.Cells)/2))
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Kind != Text && c.Kind != HighlightClose {
			offsets = append(offsets, c.Start)
		}
		if at := c.Body.Start; c.Comment > 0 && d.Known.Has(at) {
			offsets = append(offsets, at)
		}
	}
	return Known{offsets: offsets, literal: d.Known.literal}
}

func (d *Document) Plain() bool {
	return len(d.Cells) == 0 || len(d.Cells) == 1 && d.Cells[0].Kind == Text
}

// Parse splits raw into cells in one pass. A mark begins at the leftmost opener and ends at the first closer of
// the same kind. An opener without a closer is literal text, and a mark that does not count (see known.go) is literal
// text, too.
func Parse(raw string, known Known) *Document {
	room := max(atMost(raw), 2*len(known.offsets)+1)
	p := parser{Document: &Document{Raw: raw, Cells: make([]Cell, 0, room), Unclosed: -1, Known: known}}
	p.scan(0, len(raw), -1)
	if p.takesComment {
		p.findDeletedComments()
	}
	if p.tails {
		p.shareAttribution()
	}
	return p.Document
}

// maxRoom is the approximate maximum number of cells preallocated for marks that are not known. It is small, because
// many openers may have no closer.
const maxRoom = 1024

// atMost estimates the number of cells: two for each opener, and one more. It stops counting at maxRoom.
func atMost(raw string) int {
	n := 1
	for at := strings.IndexByte(raw, '{'); at >= 0 && n < maxRoom; at = strings.IndexByte(raw, '{') {
		if _, ok := formOf(raw[at:]); ok {
			n += 2
		}
		raw = raw[at+1:]
	}
	return n
}

type parser struct {
	*Document
	knownOnly    bool      // only known marks count
	literals     *literals // nil until an unknown mark is found
	tails        bool      // a mark has attribution after it
	takesComment bool      // a deletion may delete a comment, see mayTakeComment
	across       struct {  // see cutsMark
		openers []int       // of the known marks that are no highlights
		find    span.Finder // looks beyond the closer of the highlight
		at      int         // closer of the last highlight
		mark    span.Span   // the last mark before it
	}
}

// scan parses raw[from:to]. highlight is the index of the cell that opens the highlight around it, or -1.
func (p *parser) scan(from, to, highlight int) {
	find := span.Finder{Text: p.Raw[:to]}
	text := from
	for i := from; i < to; {
		brace := strings.IndexByte(p.Raw[i:to], '{')
		if brace < 0 {
			break
		}
		i += brace
		c, ok := p.mark(&find, i)
		if !ok || !p.counts(&c) {
			i++
			continue
		}
		p.addText(text, i, highlight)
		i = c.End
		text = i
		p.addMark(c, highlight)
	}
	p.addText(text, to, highlight)
}

func (p *parser) addText(from, to, highlight int) {
	if from < to {
		s := span.New(from, to)
		p.add(Cell{Kind: Text, Highlight: int32(highlight), Span: s, Body: s})
	}
}

func (p *parser) add(c Cell) {
	if len(p.Cells) == cap(p.Cells) { // doubling the capacity copies a long list less often than append does
		p.Cells = slices.Grow(p.Cells, len(p.Cells)+1)
	}
	p.Cells = append(p.Cells, c)
}

// addMark appends a mark. For a highlight it appends the two delimiters with the content between them.
func (p *parser) addMark(c Cell, highlight int) {
	c.Highlight = int32(highlight)
	if c.Kind != HighlightOpen {
		p.add(c)
		return
	}
	closing := Cell{Kind: HighlightClose, Highlight: -1, Span: span.New(c.Body.End, c.End)}
	body := c.Body
	c.Span.End, c.Body.End = body.Start, body.Start
	p.Cells = append(p.Cells, c)
	p.scan(body.Start, body.End, len(p.Cells)-1)
	p.Cells = append(p.Cells, closing)
}

// mark parses the mark whose opening brace is at offset i, within the finder's text.
func (p *parser) mark(find *span.Finder, i int) (Cell, bool) {
	rest := find.Text[i:]
	f, ok := formOf(rest)
	if !ok {
		return p.authoredComment(find, i)
	}
	from := i + len(f.open)
	end := find.Next(f.close, from)
	if end < 0 {
		if p.Unclosed < 0 {
			p.Unclosed = i
		}
		return Cell{}, false
	}
	c := Cell{Kind: f.kind, Body: span.New(from, end), Span: span.New(i, end+len(f.close))}
	meta, n := readMetadata(find.Text[from:end])
	c.Body.Start += n
	c.attribute(meta.Attribution)
	c.Resolved = meta.resolved
	if !p.readBody(find, &c) {
		return Cell{}, false
	}
	p.readTail(find.Text, &c)
	return c, true
}

// mayTakeComment reports whether a deletion may delete a comment or the start of a comment.
func (p *parser) mayTakeComment(c *Cell) bool {
	body := c.Body.Of(p.Raw)
	return strings.HasPrefix(body, "{>") || strings.HasPrefix(body, "{{")
}

// readBody reads the body of a mark. It fails for a substitution without an arrow, because that is literal text.
func (p *parser) readBody(find *span.Finder, c *Cell) bool {
	switch c.Kind {
	case Deletion:
		p.takesComment = p.takesComment || p.mayTakeComment(c)
	case Substitution:
		at := find.Next(arrow, c.Body.Start)
		if at < 0 || at+len(arrow) > c.Body.End {
			return false
		}
		c.half = int32(at - c.Body.Start)
	}
	return true
}
