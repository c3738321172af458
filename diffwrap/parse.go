package diffwrap

import (
	"strings"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// cellKind says what a cell of the raw text is.
type cellKind uint8

const (
	textCell cellKind = iota
	additionCell
	deletionCell
	substitutionCell
	commentCell
	highlightOpenCell
	highlightCloseCell
	hiddenCell // attribution that no view shows: see dialect.go
)

// cell is one piece of the raw text. The cells of a document follow one another without gaps.
type cell struct {
	kind      cellKind
	resolved  bool      // of a comment: dealt with, hidden from views
	comment   int       // of deletions: those that delete one whole comment have the same number, others 0
	highlight int       // the cell that opens the highlight around this one, -1 outside
	span.Span           // of raw, with delimiters, metadata and the dialect's tail
	body      span.Span // what stands between the delimiters, after the metadata
	close     int       // offset just after the closing delimiter, where the dialect's tail starts
	added     span.Span // what the accepted view shows
	deleted   span.Span // what the original view shows
	attribution
}

// attribution is what a dialect says about the writer of a mark.
type attribution struct {
	author string
	time   time.Time
	id     string // Roughdraft's document-local id
}

// document is a parsed raw text.
type document struct {
	raw      string
	cells    []cell
	unclosed int                         // offset of the first opener without a closer, -1 when there is none
	matter   *endMatter                  // Roughdraft's; nil until a mark refers to it
	writer   func(start, end int) Writer // of a mark, if that is known beside the text
}

// plain reports whether the text has no markup at all.
func (d *document) plain() bool {
	return len(d.cells) == 0 || len(d.cells) == 1 && d.cells[0].kind == textCell
}

// form is one of the five forms of CriticMarkup, or Relay's authored comment. An opener has three bytes, of
// which the first is '{'; Relay's goes on with attributes.
type form struct {
	kind        cellKind
	open, close string
}

// formOf returns the form that s opens, and whether it opens one.
func formOf(s string) (f form, ok bool) {
	if len(s) < 3 {
		return form{}, false
	}
	switch s[:3] {
	case "{++":
		return form{additionCell, "{++", "++}"}, true
	case "{--":
		return form{deletionCell, "{--", "--}"}, true
	case "{~~":
		return form{substitutionCell, "{~~", "~~}"}, true
	case "{>>":
		return form{commentCell, "{>>", "<<}"}, true
	case "{==":
		return form{highlightOpenCell, "{==", "==}"}, true
	}
	return form{}, false
}

const arrow = "~>" // between the halves of a substitution

// parse splits raw into cells in one pass: the leftmost opener counts, it ends at its first own closer, and an
// opener without a closer is literal text. Code, fences and tables give no protection, because no CriticMarkup
// parser in use gives any, and people would otherwise see something else than what is worked on here.
func parse(raw string) *document {
	p := parser{document: &document{raw: raw, unclosed: -1}}
	p.scan(0, len(raw), -1)
	p.hideEndMatter()
	if p.takesComment {
		p.findDeletedComments()
	}
	if p.tails {
		p.shareTails()
	}
	return p.document
}

// parser is a document in the making.
type parser struct {
	*document
	tails        bool // some mark has attribution behind it
	takesComment bool // some deletion may be that of a comment
}

// scan parses raw[from:to], which stands in the highlight opened by the given cell (-1: in none).
func (p *parser) scan(from, to, highlight int) {
	find := finder{text: p.raw[:to]}
	text := from
	for i := from; i < to; {
		brace := strings.IndexByte(p.raw[i:to], '{')
		if brace < 0 {
			break
		}
		i += brace
		c, ok := p.mark(&find, i)
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
		p.cells = append(p.cells, cell{kind: textCell, highlight: highlight, Span: s, body: s, added: s, deleted: s})
	}
}

// addMark appends a mark; of a highlight its two delimiters and, between them, what it holds.
func (p *parser) addMark(c cell, highlight int) {
	c.highlight = highlight
	if c.kind != highlightOpenCell {
		p.cells = append(p.cells, c)
		return
	}
	closing := cell{kind: highlightCloseCell, highlight: -1, Span: span.New(c.body.End, c.End)}
	body := c.body
	c.Span.End, c.body.End = body.Start, body.Start
	p.cells = append(p.cells, c)
	p.scan(body.Start, body.End, len(p.cells)-1)
	p.cells = append(p.cells, closing)
}

// mark reads the mark that starts with the brace at offset i, within the finder's text.
func (p *parser) mark(find *finder, i int) (cell, bool) {
	rest := find.text[i:]
	f, ok := formOf(rest)
	if !ok {
		return p.authoredComment(find, i)
	}
	from := i + len(f.open)
	end := find.next(f.close, from)
	if end < 0 {
		if p.unclosed < 0 {
			p.unclosed = i
		}
		return cell{}, false
	}
	c := cell{kind: f.kind, close: end + len(f.close), body: span.New(from, end)}
	c.Span = span.New(i, c.close)
	meta, n := readMetadata(find.text[from:end])
	c.body.Start += n
	c.attribution, c.resolved = meta.attribution, meta.resolved
	if !p.showBody(find, &c) {
		return cell{}, false
	}
	p.readTail(find.text, &c)
	return c, true
}

// showBody sets what the views show of a mark. It fails on a substitution without an arrow, which is literal text.
func (p *parser) showBody(find *finder, c *cell) bool {
	switch c.kind {
	case additionCell:
		c.added = c.body
	case deletionCell:
		c.deleted = c.body
		p.takesComment = p.takesComment || startsComment(c.body.Of(p.raw))
	case substitutionCell:
		at := find.next(arrow, c.body.Start)
		if at < 0 || at+len(arrow) > c.body.End {
			return false
		}
		c.deleted = span.New(c.body.Start, at)
		c.added = span.New(at+len(arrow), c.body.End)
	case commentCell:
		if !c.resolved {
			c.added = c.Span
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
