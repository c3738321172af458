package markdown

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Whole returns a stretch of text with the atoms that it begins or ends inside of, if these go on over a line break.
func Whole(text string, s span.Span) span.Span {
	start, end := wrapped(text, s.Start), wrapped(text, s.End)
	return span.New(min(s.Start, start.Start), max(s.End, end.End))
}

// MayWrap reports whether a text may have an atom over lines.
func MayWrap(text string) bool {
	return strings.IndexByte(text, '\n') >= 0 && strings.ContainsAny(text, openers)
}

// openers are the characters that atoms can start with, but for URLs, which have no line breaks.
var openers = func() (s string) {
	for _, c := range Constructs {
		if c.class == Atom {
			s += c.first
		}
	}
	return s
}()

// wrapped returns the atom over lines that an offset lies inside of; if there is none, nothing at that offset.
func wrapped(text string, at int) span.Span {
	none := span.New(at, at)
	if !strings.ContainsAny(text[max(0, at-maxAtom):at], openers) {
		return none
	}
	p := paragraph(text, at)
	for t := range Tokens(oneLine(p.Of(text)), span.New(0, p.Len()), nil) {
		switch a := t.Shift(p.Start); {
		case a.Start >= at:
			return none
		case a.End > at && t.Class == Atom && strings.IndexByte(a.Of(text), '\n') >= 0:
			return a
		}
	}
	return none
}

// oneLine returns a paragraph with blanks for its line breaks and for what indents its lines, of the same length: its atoms are those of
// that line.
func oneLine(paragraph string) string {
	var b strings.Builder
	for line := range strings.Lines(paragraph) {
		indent := indentation(line)
		text := strings.TrimRight(line[indent:], "\r\n")
		b.WriteString(strings.Repeat(" ", indent))
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", len(line)-indent-len(text)))
	}
	return b.String()
}

// maxBack is how far before an offset the start of its paragraph is looked for.
const maxBack = 8 * maxAtom

// paragraph returns the lines around an offset that can be of one paragraph, as far as an atom around it can reach. Where the
// paragraph starts further up, it is read from a line in the middle of it.
func paragraph(text string, at int) span.Span {
	first := max(0, at-maxBack)
	p := span.New(first+linebreak.LineStart(text[first:], at-first), linebreak.End(text, at))
	for p.Start > first && continues(text[p.Start:]) {
		before := linebreak.LineStart(text[first:], p.Start-1-first) + first
		if IsBlank(text[before : p.Start-1]) {
			break
		}
		p.Start = before
	}
	for p.End-at < maxAtom && continues(text[p.End:]) {
		p.End = linebreak.End(text, p.End)
	}
	return p
}

// continues reports whether the first line of a text can go on with the paragraph of the line before it.
func continues(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return !IsBlank(line) && Marker(line) == indentation(line) && !IsRow(line)
}
