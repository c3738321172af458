package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// verify reports what is wrong with a result, which was read back, as the refusal it would come to. Write is right by
// construction except where literal delimiters are about; this is where that shows.
func (p *putter) verify(doc *document) error {
	if !p.keepsFrontMatter(doc) {
		return refuseFrontMatter("would have a mark on its closing line", "end that line with a line break")
	}
	if p.readsBack(doc) && p.agreesAsBefore(doc) && !p.takesIn(doc) {
		return nil
	}
	at, literal := p.culprit()
	return &RefusedError{Line: linebreak.LineOf(p.new, at), Literal: literal, Err: ErrAmbiguous,
		advice: "write it apart, as in \"{ ++\", or ask a person to make this change"}
}

// readsBack checks laws 1 and 3 on a result.
func (p *putter) readsBack(doc *document) bool {
	original, rejected := p.doc.render(OriginalView), p.rejected(p.doc)
	if p.matter.change != nil {
		original = p.matter.text + original[p.matter.rawEnd:]
		rejected = p.matter.text + rejected[p.matter.rawEnd:]
	}
	return doc.shows(p.new) && doc.render(OriginalView) == original && p.rejected(doc) == rejected
}

// takesIn reports whether the new text has a suggestion or a comment around text that is plain in the result: so it
// would be read once everything is accepted. Literal delimiters that are written one by one come to that.
func (p *putter) takesIn(doc *document) bool {
	if !strings.Contains(p.new, "{++") && !strings.Contains(p.new, "{--") && !strings.Contains(p.new, "{~~") && !strings.Contains(p.new, "{>>") {
		return false
	}
	marks := parse(p.new).cells
	at := 0 // in the new text
	for i := range doc.cells {
		c := &doc.cells[i]
		end := at + len(c.added.Of(doc.raw))
		plain := !c.isSuggestion() && c.kind != commentCell
		for len(marks) > 0 && marks[0].End <= at {
			marks = marks[1:]
		}
		for _, m := range marks {
			if m.Start >= end {
				break
			}
			if plain && (m.isSuggestion() || m.kind == commentCell) {
				return true
			}
		}
		at = end
	}
	return false
}

// rejected returns what is left of a document when all suggestions, and the comments that the writer writes, are
// rejected.
func (p *putter) rejected(doc *document) string {
	var b strings.Builder
	for i := range doc.cells {
		c := &doc.cells[i]
		switch {
		case c.isSuggestion():
			b.WriteString(c.deleted.Of(doc.raw))
		case c.kind != commentCell || !p.bare[c.Of(doc.raw)]:
			b.WriteString(c.Of(doc.raw))
		}
	}
	return b.String()
}

// agreesAsBefore reports whether the new document is read alike form by form and mark by mark, for each form of which
// that was so before.
func (p *putter) agreesAsBefore(doc *document) bool {
	for _, open := range []string{"{++", "{--", "{~~", "{>>", "{=="} {
		if p.doc.agrees(open) && !doc.agrees(open) {
			return false
		}
	}
	return true
}

// agrees reports whether a reader that looks for one form alone, from opener to next closer, finds the marks that
// parse found. lens-editor and the npm parsers read like that, each form by a pattern of its own.
func (d *document) agrees(open string) bool {
	f, _ := formOf(open)
	next := 0
	for i := range d.cells {
		c := &d.cells[i]
		if c.kind != f.kind || !strings.HasPrefix(d.raw[c.Start:], open) {
			continue
		}
		found, ok := alone(d.raw, f, next)
		if !ok || found.Start != c.Start {
			return false
		}
		next = found.End
	}
	_, more := alone(d.raw, f, next)
	return !more
}

// alone finds the first mark of one form at or after offset from.
func alone(raw string, f form, from int) (span.Span, bool) {
	start := strings.Index(raw[from:], f.open)
	if start < 0 {
		return span.Span{}, false
	}
	start += from
	body := start + len(f.open)
	if f.kind == substitutionCell {
		at := strings.Index(raw[body:], arrow)
		if at < 0 {
			return span.Span{}, false
		}
		body += at + len(arrow)
	}
	end := strings.Index(raw[body:], f.close)
	if end < 0 {
		return span.Span{}, false
	}
	return span.New(start, body+end+len(f.close)), true
}

// culprit returns the offset in the new text of the literal that most likely stands in the way, and the literal: an
// opener without a closer, else the first thing that reads as a mark, else the first delimiter there or in the raw text,
// else what may be a dialect's attribution.
func (p *putter) culprit() (at int, literal string) {
	doc := parse(p.new)
	if doc.unclosed >= 0 {
		return doc.unclosed, p.new[doc.unclosed : doc.unclosed+3]
	}
	for i := range doc.cells {
		if c := &doc.cells[i]; c.kind != textCell && c.kind != commentCell {
			return c.Start, c.Of(p.new)
		}
	}
	if at, n := firstDelimiter(p.new); n > 0 {
		return at, p.new[at : at+n]
	}
	if at, n := firstDelimiter(p.doc.raw); n > 0 {
		return 0, p.doc.raw[at : at+n]
	}
	at = max(0, strings.IndexByte(p.new, '{'))
	return at, p.new[at:linebreak.End(p.new, at)]
}

// firstDelimiter returns where the first delimiter of s is and its length, 0 when there is none.
func firstDelimiter(s string) (at, n int) {
	for at = range s {
		if n = delimiterAt(s[at:]); n > 0 {
			return at, n
		}
	}
	return 0, 0
}

// shows reports whether the accepted view of the document is text, without building it.
func (d *document) shows(text string) bool {
	for i := range d.cells {
		s := d.cells[i].added.Of(d.raw)
		if !strings.HasPrefix(text, s) {
			return false
		}
		text = text[len(s):]
	}
	return text == ""
}
