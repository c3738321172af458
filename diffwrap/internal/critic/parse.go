// Package critic reads CriticMarkup: a raw text as a document of cells, what the views show of it, who signed its marks, and
// which marks a person decides at once. It changes nothing.
package critic

import (
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Kind says what a cell of the raw text is.
type Kind uint8

const (
	Text Kind = iota
	Addition
	Deletion
	Substitution
	Comment
	HighlightOpen
	HighlightClose
	Hidden // attribution that no view shows: see dialect.go
)

// Cell is one piece of the raw text. The cells of a document follow one another without gaps.
type Cell struct {
	Kind      Kind
	Resolved  bool      // of a comment: dealt with, hidden from views
	literal   bool      // of a known deletion that may be of a comment: it deletes literal text
	Comment   int       // of deletions: those that delete one whole comment have the same number, others 0
	Highlight int       // the cell that opens the highlight around this one, -1 outside
	span.Span           // of raw, with delimiters, metadata and the dialect's tail
	Body      span.Span // what stands between the delimiters, after the metadata
	Close     int       // offset just after the closing delimiter, where the dialect's tail starts
	Added     span.Span // what the accepted view shows
	Deleted   span.Span // what the original view shows
	Attribution
}

// Attribution is what a dialect says about the writer of a mark.
type Attribution struct {
	Author string
	Time   time.Time
	ID     string // Roughdraft's document-local id
}

func (c *Cell) IsSuggestion() bool {
	return c.Kind == Addition || c.Kind == Deletion || c.Kind == Substitution
}

// Kept returns what a decision leaves of a mark.
func (c *Cell) Kept(accept bool) span.Span {
	switch {
	case accept && !c.Added.Empty():
		return c.Added
	case !accept && !c.Deleted.Empty():
		return c.Deleted
	}
	return span.New(c.End, c.End)
}

// Reduce appends the edits that leave a part of a cell.
func (c *Cell) Reduce(edits []span.Edit, left span.Span) []span.Edit {
	edits = span.Append(edits, span.Edit{Off: c.Start, Len: left.Start - c.Start})
	return span.Append(edits, span.Edit{Off: left.End, Len: c.End - left.End})
}

func (c *Cell) visible(v View) span.Span {
	switch {
	case v == AcceptedView:
		return c.Added
	case c.Comment > 0:
		return span.New(c.End, c.End)
	}
	return c.Deleted
}

// Document is a parsed raw text.
type Document struct {
	Raw      string
	Cells    []Cell
	Unclosed int        // offset of the first opener without a closer, -1 when there is none
	Known    Known      // of the marks
	Literal  []int      // where well-formed marks open that are literal text
	matter   *endMatter // Roughdraft's; nil until a mark refers to it
	// Owners, unless nil, says whose marks are, by their offsets: marks that touch are one suggestion only if they have one owner.
	Owners map[int]Owner
}

// Counted lists the marks of the document.
func (d *Document) Counted() Known {
	if d.Known.every {
		return d.Known
	}
	var offsets []int
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Kind != Text && c.Kind != HighlightClose {
			offsets = append(offsets, c.Start)
		}
		if at := c.Body.Start; c.Comment > 0 && d.Known.Has(at) {
			offsets = append(offsets, at)
		}
	}
	return Known{offsets: offsets}
}

func (d *Document) Plain() bool {
	return len(d.Cells) == 0 || len(d.Cells) == 1 && d.Cells[0].Kind == Text
}

// Parse splits raw into cells in one pass: the leftmost opener counts, it ends at its first own closer, and an
// opener without a closer is literal text, as is a mark that does not count (see known.go).
func Parse(raw string, known Known) *Document {
	p := parser{Document: &Document{Raw: raw, Cells: make([]Cell, 0, atMost(raw)), Unclosed: -1, Known: known}}
	p.scan(0, len(raw), -1)
	p.hideEndMatter()
	if p.takesComment {
		p.findDeletedComments()
	}
	if p.tails {
		p.shareTails()
	}
	return p.Document
}

// maxRoom bounds the cells for which there is room before they are read: what opens a mark may not be closed.
const maxRoom = 1024

// atMost is how many cells a text has at most, or maxRoom: one for each mark, and the texts around them.
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
	knownOnly    bool      // no other mark counts
	literals     *literals // nil until a mark is found that is not known
	tails        bool      // some mark has attribution after it
	takesComment bool      // some deletion may be that of a comment
}

// scan parses raw[from:to], which stands in the highlight opened by the given cell (-1: in none).
func (p *parser) scan(from, to, highlight int) {
	find := finder{text: p.Raw[:to]}
	text := from
	for i := from; i < to; {
		brace := strings.IndexByte(p.Raw[i:to], '{')
		if brace < 0 {
			break
		}
		i += brace
		used := p.matter != nil && p.matter.used
		c, ok := p.mark(&find, i)
		if ok && !p.counts(&c) {
			ok = false
			if p.matter != nil {
				p.matter.used = used
			}
		}
		if !ok {
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
		p.add(Cell{Kind: Text, Highlight: highlight, Span: s, Body: s, Added: s, Deleted: s})
	}
}

func (p *parser) add(c Cell) {
	if len(p.Cells) == cap(p.Cells) { // append would copy a long list more often
		p.Cells = slices.Grow(p.Cells, len(p.Cells)+1)
	}
	p.Cells = append(p.Cells, c)
}

// addMark appends a mark; of a highlight its two delimiters and, between them, what it holds.
func (p *parser) addMark(c Cell, highlight int) {
	c.Highlight = highlight
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

// mark reads the mark that starts with the brace at offset i, within the finder's text.
func (p *parser) mark(find *finder, i int) (Cell, bool) {
	rest := find.text[i:]
	f, ok := formOf(rest)
	if !ok {
		return p.authoredComment(find, i)
	}
	from := i + len(f.open)
	end := find.next(f.close, from)
	if end < 0 {
		if p.Unclosed < 0 {
			p.Unclosed = i
		}
		return Cell{}, false
	}
	c := Cell{Kind: f.kind, Close: end + len(f.close), Body: span.New(from, end)}
	c.Span = span.New(i, c.Close)
	meta, n := readMetadata(find.text[from:end])
	c.Body.Start += n
	c.Attribution, c.Resolved = meta.Attribution, meta.resolved
	if !p.showBody(find, &c) {
		return Cell{}, false
	}
	p.readTail(find.text, &c)
	return c, true
}

// mayTakeComment reports whether a deletion may be that of a comment, or of the start of one.
func (p *parser) mayTakeComment(c *Cell) bool {
	body := c.Body.Of(p.Raw)
	return strings.HasPrefix(body, "{>") || strings.HasPrefix(body, "{{")
}

// showBody sets what the views show of a mark. It fails on a substitution without an arrow, which is literal text.
func (p *parser) showBody(find *finder, c *Cell) bool {
	switch c.Kind {
	case Addition:
		c.Added = c.Body
	case Deletion:
		c.Deleted = c.Body
		p.takesComment = p.takesComment || p.mayTakeComment(c)
	case Substitution:
		at := find.next(arrow, c.Body.Start)
		if at < 0 || at+len(arrow) > c.Body.End {
			return false
		}
		c.Deleted = span.New(c.Body.Start, at)
		c.Added = span.New(at+len(arrow), c.Body.End)
	case Comment:
		if !c.Resolved {
			c.Added = c.Span
		}
	}
	return true
}

// finder looks patterns up from growing offsets and remembers where it found each, so that a text full of openers
// without closers costs one search per pattern and not one per opener.
type finder struct {
	text  string
	found [8]struct {
		pattern string
		at      int
	}
}

// next returns the offset of the first pattern at or after from, -1 when there is none. from must not decrease
// between calls for the same pattern.
func (f *finder) next(pattern string, from int) int {
	slot := 0
	for f.found[slot].pattern != pattern && f.found[slot].pattern != "" {
		slot++
	}
	known := &f.found[slot]
	if known.pattern != "" && (known.at < 0 || known.at >= from) {
		return known.at
	}
	known.pattern, known.at = pattern, -1
	if at := strings.Index(f.text[from:], pattern); at >= 0 {
		known.at = from + at
	}
	return known.at
}
