package block

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// LineKind is the kind of a line, judged without the lines around it.
type LineKind uint8

const (
	Prose        LineKind = iota
	HeadingLine           // heading with hashes
	FenceLine             // fence of code
	FormulaFence          // line with only $$
	RuleLine              // thematic break, underline of a heading, or delimiter row of a table
	RowLine               // table row with a leading bar
	ItemLine
	TaskLine // list item with a checkbox
	CalloutLine
	FootnoteLine
	DefinitionLine // definition of a link reference
	TagLine        // line that begins with an HTML tag
)

// Line returns the kind of a line and the length of its marker, including the blanks after the marker unless it is a
// fence. The line must be given without indentation and quote markers. The marker of a rule is the whole line; rows,
// tags, footnotes and definitions have no marker.
func Line(s string) (LineKind, int) {
	if s == "" || isLetter(s[0]) {
		return Prose, 0
	}
	l := line{rest: s}
	m, item := listMarker(l)
	switch n := headingHashes(s); {
	case n > 0:
		return HeadingLine, span.Skip(s, n, " \t")
	case Fence(s) > 0:
		return FenceLine, Fence(s)
	case strings.TrimRight(s, " \t") == "$$":
		return FormulaFence, 2
	case isRule(s), !item && isUnderline(s), isDelimiterRow(s):
		return RuleLine, len(s)
	case s[0] == '|':
		return RowLine, 0
	case isCalloutTitle(s):
		return CalloutLine, span.Skip(s, strings.IndexByte(s, ']')+1, "+- \t")
	case isFootnote(s):
		return FootnoteLine, 0
	case label(s) > 0:
		return DefinitionLine, 0
	case s[0] == '<':
		return TagLine, 0
	case !item:
		return Prose, 0
	}
	end := span.Skip(s, len(m.number)+1, " \t")
	if box := s[end:]; len(box) >= 3 && box[0] == '[' && box[2] == ']' && (len(box) == 3 || box[3] == ' ' || box[3] == '\t') {
		return TaskLine, span.Skip(s, end+3, " \t")
	}
	return ItemLine, end
}

// ItemMark returns the length of the list marker at the start of a line's text, without the blanks after it, or 0.
func ItemMark(s string) int {
	if s == "" {
		return 0
	}
	m, _ := listMarker(line{rest: s})
	return m.bytes
}

// IsRow reports whether a line is a table row with a leading bar.
func IsRow(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " \t"), "|") }

// Fence returns the length of the code fence at the start of a line's text, or 0 if there is none.
func Fence(s string) int {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return 0
	}
	n := span.Skip(s, 0, s[:1])
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return 0
	}
	return n
}

func headingHashes(s string) int {
	n := span.Skip(s, 0, "#")
	if n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func isFootnote(s string) bool {
	end := strings.Index(s, "]:")
	return strings.HasPrefix(s, "[^") && end > 2 && !strings.ContainsAny(s[:end], " \t")
}

// label returns the offset after the label of a link reference definition, or 0 if there is none.
func label(s string) int {
	if !strings.HasPrefix(s, "[") {
		return 0
	}
	end := strings.Index(s, "]:")
	if end < 2 || strings.ContainsAny(s[1:end], "[]") {
		return 0
	}
	return end + 2
}

// Defines reports whether a line alone is a link reference definition.
func Defines(s string) bool {
	in := scanner{text: s}
	_, ok := in.definition(line{end: len(s), next: len(s), rest: s})
	return ok
}

// isUnderline reports whether a line that is not blank makes the line before it a heading.
func isUnderline(s string) bool {
	s = strings.TrimRight(s, " \t")
	return strings.Trim(s, "=") == "" || strings.Trim(s, "-") == ""
}

func isRule(s string) bool {
	if c := s[0]; c != '-' && c != '*' && c != '_' {
		return false
	}
	return strings.Count(s, s[:1]) >= 3 && strings.Trim(s, s[:1]+" \t") == ""
}

func isCalloutTitle(s string) bool {
	return strings.HasPrefix(s, "[!") && strings.IndexByte(s, ']') > 2
}
