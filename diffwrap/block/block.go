// Package block finds the top-level blocks of a Markdown text: the blocks of CommonMark, and Obsidian's tables,
// footnotes, formulas, comments and callouts. Scan makes one pass over the lines and builds no tree. It looks into
// lists and quotes only to decide whether a line still belongs to them, and does not recognize front matter.
//
// Line returns the kind of a single line, FrontMatter finds the front matter, and Literals finds the ranges in which
// markup has no meaning.
package block

import (
	"math"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Kind uint8

const (
	Paragraph Kind = iota
	Heading
	Rule
	Code // fenced or indented
	Math
	Comment
	HTML
	Table
	Quote
	Callout
	List
	Footnote
	Definition // definition of a link reference
	Kinds
)

// Block is a range of whole lines, without the last line break and without blank lines after it.
type Block struct {
	span.Span
	Kind Kind
}

// Scan returns the blocks of a text, in order. It does not recognize front matter.
func Scan(text string) (out []Block) {
	work := maxLookedInto
	s := scanner{text: text, work: &work}
	for b, next := s.next(0); !b.Empty(); b, next = s.next(next) {
		out = append(out, b)
	}
	return out
}

// next returns the first block from an offset on, and the offset of the line after it. At the end of the text the block
// is empty.
func (s *scanner) next(at int) (Block, int) {
	for at < len(s.text) {
		if s.text[at] == '\n' { // fast path: most blank lines are empty
			at++
			continue
		}
		l := s.line(at)
		if !l.blank() {
			kind, last := s.block(l)
			return Block{span.New(l.start, last.end), kind}, last.next
		}
		at = l.next
	}
	return Block{}, at
}

type scanner struct {
	text  string
	depth int
	work  *int // bytes of lists and quotes that may still be scanned
	prose bool // formulas and comments are prose

	outer *scanner // scans the text around the container with this text; nil for the whole text
	inner *scanner // last result of inside
	base  int      // column of this text in the whole text
	cuts  []cut    // the lines of this text; nil for the whole text
}

// Lists and quotes are scanned to decide whether a line continues a paragraph in them. maxDepth is the maximum nesting
// depth of this scan, and maxLookedInto the maximum number of bytes that it reads for one text.
const (
	maxDepth      = 8
	maxLookedInto = 1 << 20
)

// line is one line. Columns are counted with tab stops of 4.
type line struct {
	start, end, next int    // offsets in the text; next is after the line break
	base, indent     int    // in columns
	rest             string // text after the indentation
	lazy             bool   // see cut
}

func (s *scanner) line(at int) (l line) {
	l.start, l.end, l.next, l.base = at, len(s.text), len(s.text), s.base
	if feed := strings.IndexByte(s.text[at:], '\n'); feed >= 0 {
		l.end, l.next = at+feed, at+feed+1
		if l.end > at && s.text[l.end-1] == '\r' {
			l.end--
		}
	}
	if s.cuts != nil {
		c := s.cut(at)
		l.indent, l.lazy = c.pad, c.lazy
	}
	i, column := blanks(s.text[:l.end], at, s.base+l.indent, math.MaxInt)
	l.indent, l.rest = column-s.base, s.text[i:l.end]
	return l
}

// blanks skips blanks from an offset, which is at a column, up to another column.
func blanks(text string, at, column, to int) (int, int) {
	for ; at < len(text) && column < to; at++ {
		if text[at] == ' ' {
			column++
		} else if text[at] == '\t' {
			column += 4 - column%4
		} else {
			break
		}
	}
	return at, column
}

// blank reports whether the line has only blanks and carriage returns. Such a carriage return ends no line here, but it
// may end a line for other parsers.
func (l line) blank() bool {
	return l.rest == "" || l.rest[0] == '\r' && strings.Trim(l.rest, " \t\r") == ""
}

// after returns the next line; ok is false at the end of the text.
func (s *scanner) after(l line) (next line, ok bool) {
	if l.next >= len(s.text) {
		return line{}, false
	}
	return s.line(l.next), true
}

// block returns the kind and the last line of the block that starts with a line.
func (s *scanner) block(l line) (Kind, line) {
	if l.indent >= codeIndent {
		return Code, s.indented(l)
	}
	kind, ok := s.starts(l, false)
	if !ok {
		if last, ok := s.definition(l); ok {
			return Definition, last
		}
		return s.paragraph(l)
	}
	switch kind {
	case Code:
		return kind, s.fenced(l)
	case Math, Comment:
		last, _ := s.between(l)
		return kind, last
	case HTML:
		closers, _ := html(l.rest, false)
		return kind, s.html(l, closers)
	case Table:
		return kind, s.table(l)
	case Quote, Callout:
		return kind, s.quote(l)
	case Footnote:
		return kind, s.contained(l, codeIndent, nil)
	case List:
		m, _ := listMarker(l)
		return kind, s.contained(l, m.width, &m)
	}
	return kind, l
}

const codeIndent = 4 // columns

// starts reports whether a line starts a block other than a paragraph, a link definition or indented code, and the kind
// of that block. If inParagraph is set, it considers only blocks that may interrupt a paragraph.
func (s *scanner) starts(l line, inParagraph bool) (Kind, bool) {
	if l.indent >= codeIndent {
		return 0, false
	}
	switch c := l.rest[0]; {
	case isLetter(c): // fast path: may only start a table
	case Fence(l.rest) > 0:
		return Code, true
	case (c == '$' || c == '%') && !s.prose:
		if _, ok := s.between(l); ok && c == '$' {
			return Math, true
		} else if ok {
			return Comment, true
		}
	case headingHashes(l.rest) > 0:
		return Heading, true
	case c == '>' && isCallout(l.rest):
		return Callout, true
	case c == '>':
		return Quote, true
	case c == '<':
		if _, ok := html(l.rest, inParagraph); ok {
			return HTML, true
		}
	case c == '[' && isFootnote(l.rest):
		return Footnote, true
	case isRule(l.rest):
		return Rule, true
	default:
		if m, ok := listMarker(l); ok && !(inParagraph && (m.empty || m.ordered && m.number != "1")) {
			return List, true
		}
	}
	if s.startsTable(l) {
		return Table, true
	}
	return 0, false
}

// paragraph reads a paragraph, or a heading with an underline.
func (s *scanner) paragraph(l line) (Kind, line) {
	for {
		next, ok := s.after(l)
		if !ok || next.blank() {
			return Paragraph, l
		}
		if !next.lazy && next.indent < codeIndent && isUnderline(next.rest) {
			return Heading, next
		}
		if _, ends := s.starts(next, true); ends {
			return Paragraph, l
		}
		l = next
	}
}

func (s *scanner) indented(l line) line {
	last := l
	for {
		next, ok := s.after(l)
		if !ok || !next.blank() && next.indent < codeIndent {
			return last
		}
		if !next.blank() {
			last = next
		}
		l = next
	}
}

func (s *scanner) fenced(l line) line {
	mark, n := l.rest[0], Fence(l.rest)
	for {
		next, ok := s.after(l)
		if !ok {
			return l
		}
		l = next
		if l.indent < codeIndent && !l.blank() && l.rest[0] == mark {
			if m := span.Skip(l.rest, 0, l.rest[:1]); m >= n && strings.Trim(l.rest[m:], " \t") == "" {
				return l
			}
		}
	}
}

// between reads a formula or a comment, which ends with a second delimiter. ok is false if that delimiter is missing or
// not at the end of its line.
func (s *scanner) between(l line) (line, bool) {
	mark := strings.Repeat(l.rest[:1], 2)
	text, found := strings.CutPrefix(l.rest, mark)
	for found {
		if at := strings.Index(text, mark); at >= 0 {
			return l, strings.Trim(text[at+len(mark):], " \t") == ""
		}
		if l, found = s.after(l); found {
			text = l.rest
		}
	}
	return l, false
}

func isCallout(s string) bool { return isCalloutTitle(strings.TrimLeft(s[1:], " ")) }

// definition reads a link reference definition. Its destination may be on the next line.
func (s *scanner) definition(l line) (line, bool) {
	end := label(l.rest)
	if end == 0 {
		return l, false
	}
	target := strings.Trim(l.rest[end:], " \t")
	if target == "" {
		next, ok := s.after(l)
		if !ok || next.blank() {
			return l, false
		}
		l, target = next, next.rest
	}
	blank := strings.IndexAny(target, " \t")
	if blank < 0 {
		return l, true
	}
	title := strings.Trim(target[blank:], " \t")
	return l, title == "" || len(title) > 1 && strings.IndexByte("\"'(", title[0]) >= 0 && strings.IndexByte("\"')", title[len(title)-1]) >= 0
}

type marker struct {
	kind    byte // the bullet, or the character after the number
	ordered bool
	number  string
	bytes   int  // without the indentation and the blanks
	width   int  // in columns, up to the item's text
	empty   bool // the rest of the line is empty
}

func listMarker(l line) (m marker, ok bool) {
	n := 1
	switch c := l.rest[0]; {
	case c == '-' || c == '*' || c == '+':
		m.kind = c
	case c >= '0' && c <= '9':
		d := span.Skip(l.rest, 0, "0123456789")
		if d > 9 || d == len(l.rest) || l.rest[d] != '.' && l.rest[d] != ')' {
			return m, false
		}
		m.kind, m.ordered, m.number, n = l.rest[d], true, l.rest[:d], d+1
	default:
		return m, false
	}
	from := l.base + l.indent + n
	i, column := blanks(l.rest, n, from, math.MaxInt)
	switch m.empty = i == len(l.rest); {
	case m.empty || column-from > codeIndent:
		column = from + 1
	case column == from:
		return m, false
	}
	m.bytes, m.width = n, column-l.base
	return m, true
}

// contained reads a list, or a footnote if m is nil: lines that are indented at least to column, lazy continuations of
// its last paragraph, and further items.
func (s *scanner) contained(l line, column int, m *marker) line {
	last, item := l, l.start
	lazy, afterBlank := false, false
	for {
		next, ok := s.after(l)
		if !ok {
			return last
		}
		l = next
		switch {
		case l.blank():
			if lazy, afterBlank = false, true; m != nil && m.empty && last.start == item {
				column = math.MaxInt // only another item may follow
			}
			continue
		case l.indent >= column:
			lazy = false
		case m != nil && sibling(l, m):
			column, item, lazy = m.width, l.start, false
		case afterBlank:
			return last
		default:
			if s.endsLazy(l) {
				return last
			}
			if lazy = lazy || s.open(span.New(item, last.end)); !lazy {
				return last
			}
		}
		last, afterBlank = l, false
	}
}

// endsLazy reports whether a line starts a block that ends the preceding table, list or quote. Otherwise the line may
// continue the last paragraph of the list or quote. A line that starts a table does not end them.
func (s *scanner) endsLazy(l line) bool {
	kind, ok := s.starts(l, true)
	return ok && kind != Table
}

// sibling reports whether a line starts another item of the list of m, and sets m to its marker.
func sibling(l line, m *marker) bool {
	if l.indent >= codeIndent || isRule(l.rest) {
		return false
	}
	other, ok := listMarker(l)
	if !ok || other.kind != m.kind || other.ordered != m.ordered {
		return false
	}
	*m = other
	return true
}

// quote reads a quote: lines with its marker, and lazy continuations of its last paragraph.
func (s *scanner) quote(l line) line {
	first, lazy := l.start, false
	for {
		next, ok := s.after(l)
		if !ok || next.blank() {
			return l
		}
		if next.indent < codeIndent && next.rest[0] == '>' {
			lazy = false
		} else {
			if s.endsLazy(next) {
				return l
			}
			if lazy = lazy || s.open(span.New(first, l.end)); !lazy {
				return l
			}
		}
		l = next
	}
}

// open reports whether a lazy line may continue a paragraph at the end of an item, quote or footnote. If the text
// exceeds the limits, open returns true.
func (s *scanner) open(container span.Span) bool {
	if *s.work -= container.End - container.Start; s.depth >= maxDepth || *s.work < 0 {
		return true
	}
	in := s.inside(container)
	var last Block
	for b, next := in.next(0); !b.Empty(); b, next = in.next(next) {
		last = b
	}
	if containers := in.containers(last); len(containers) > 0 {
		return in.open(containers[len(containers)-1])
	}
	return last.Kind == Paragraph && !last.Empty()
}

// containers returns the items of a list, or the range of a quote or footnote. It returns nil for other blocks.
func (s *scanner) containers(b Block) (out []span.Span) {
	switch b.Kind {
	case Quote, Callout, Footnote:
		return []span.Span{b.Span}
	case List:
		out = make([]span.Span, 0, 4)
		column := 0
		for at := b.Start; at < b.End; {
			l := s.line(at)
			if !l.blank() && (column == 0 || l.indent < column) {
				if m, ok := listMarker(l); ok {
					out, column = append(out, span.New(at, at)), m.width
				}
			}
			at = min(l.next, b.End)
			out[len(out)-1].End = at
		}
	}
	return out
}

// cut is a line of the content of a container.
type cut struct {
	at, from int  // offsets of the line in the content and in the text around the container
	pad      int  // columns of a tab that belong to the line's indentation; the rest of them is outside
	lazy     bool // the line has no prefix and only continues a paragraph
}

func (s *scanner) cut(off int) cut {
	i, found := slices.BinarySearchFunc(s.cuts, off, func(c cut, off int) int { return c.at - off })
	if !found {
		i--
	}
	return s.cuts[i]
}

// whole returns the offset in the whole text.
func (s *scanner) whole(off int) int {
	for ; s.outer != nil; s = s.outer {
		c := s.cut(off)
		off += c.from - c.at
	}
	return off
}

// inside returns a scanner for the content of a container: an item, a quote or a footnote. The next call reuses it.
func (s *scanner) inside(container span.Span) *scanner {
	first := s.line(container.Start)
	var marker, from, column int
	quote := first.rest[0] == '>'
	if m, ok := listMarker(first); ok {
		marker, from, column = m.bytes, first.indent+m.bytes, m.width
	} else if quote {
		marker, from, column = 1, first.indent+1, first.indent+2
	} else {
		marker, column = strings.Index(first.rest, "]:")+len("]:"), codeIndent
	}
	if s.inner == nil {
		s.inner = &scanner{depth: s.depth + 1, work: s.work, prose: s.prose, outer: s}
	}
	in := s.inner
	in.base, in.cuts = s.base+column, in.cuts[:0]
	var text strings.Builder
	for l := first; ; l = s.line(l.next) {
		prefixed := l.start == first.start || quote && l.indent < codeIndent && strings.HasPrefix(l.rest, ">")
		c := cut{at: text.Len(), from: l.start}
		at, start := l.start, s.base
		if s.cuts != nil {
			c.pad = s.cut(at).pad
			start += c.pad
		}
		if prefixed {
			at, start = l.end-len(l.rest)+marker, s.base+from
		}
		at, reached := blanks(s.text[:l.end], at, start, in.base)
		if c.lazy = l.lazy || !prefixed && !l.blank() && (quote || reached < in.base); !c.lazy {
			c.from, c.pad = at, max(0, reached-in.base)
		}
		in.cuts = append(in.cuts, c)
		end := min(container.End, l.next)
		if end == container.End && len(in.cuts) == 1 {
			in.text = s.text[c.from:end]
			return in
		}
		text.Grow(container.End - c.from)
		text.WriteString(s.text[c.from:end])
		if end == container.End {
			in.text = text.String()
			return in
		}
	}
}

// startsTable reports whether a line is the first line of a table: the next line must be a delimiter row with the same
// number of cells.
func (s *scanner) startsTable(l line) bool {
	if strings.IndexByte(l.rest, '|') < 0 || l.next >= len(s.text) || strings.IndexByte("|:- \t", s.text[l.next]) < 0 {
		return false
	}
	next := s.line(l.next)
	return next.indent < codeIndent && StartsTable(l.rest, next.rest)
}

// StartsTable reports whether two lines without indentation are the header and the delimiter row of a table.
func StartsTable(header, delimiters string) bool {
	return strings.IndexByte(header, '|') >= 0 && isDelimiterRow(delimiters) && cells(header) == cells(delimiters)
}

// table reads a table, which ends at a blank line or at another block.
func (s *scanner) table(l line) line {
	l, _ = s.after(l)
	for {
		next, ok := s.after(l)
		if !ok || next.blank() || next.indent >= codeIndent || s.endsLazy(next) {
			return l
		}
		l = next
	}
}

func isDelimiterRow(s string) bool {
	s = strings.Trim(s, " \t")
	if len(s) < 2 || strings.Trim(s, "|:- \t") != "" || strings.IndexByte(s, '-') < 0 {
		return false
	}
	for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(s, "|"), "|"), "|") {
		if c := strings.Trim(cell, " \t"); strings.Trim(strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"), "-") != "" || strings.IndexByte(c, '-') < 0 {
			return false
		}
	}
	return strings.ContainsAny(s, "|:")
}

func cells(s string) int {
	s = strings.Trim(s, " \t")
	s = strings.TrimPrefix(s, "|")
	if strings.HasSuffix(s, "|") && !strings.HasSuffix(s, "\\|") {
		s = s[:len(s)-1]
	}
	n := 1
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '|' {
			n++
		}
	}
	return n
}
