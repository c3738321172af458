package block

import "strings"

// LineKind says what a line is by itself: what stands before and after it may make something else of it.
type LineKind uint8

const (
	Prose        LineKind = iota
	HeadingLine           // with hashes
	FenceLine             // of code
	FormulaFence          // nothing but $$
	RuleLine              // a thematic break, the underline of a heading, or the delimiter row of a table
	RowLine               // a row of a table that begins with a bar
	ItemLine
	TaskLine // an item with a checkbox
	CalloutLine
	FootnoteLine
	DefinitionLine // of a link
	TagLine        // begins with an HTML tag
)

// Line returns what a line is that stands without its indentation and without the marks of quotes, and the length of the marker
// that makes it that, with the blanks behind it. A rule is a marker as a whole; a row, a tag, a footnote and a definition have none.
func Line(s string) (LineKind, int) {
	if s == "" || isLetter(s[0]) {
		return Prose, 0
	}
	l := line{rest: s}
	m, item := listMarker(l)
	switch n := headingHashes(s); {
	case n > 0:
		return HeadingLine, skip(s, n, " \t")
	case Fence(s) > 0:
		return FenceLine, Fence(s)
	case strings.TrimRight(s, " \t") == "$$":
		return FormulaFence, 2
	case isRule(s), !item && isUnderline(s), isDelimiterRow(s):
		return RuleLine, len(s)
	case s[0] == '|':
		return RowLine, 0
	case isCalloutTitle(s):
		return CalloutLine, skip(s, strings.IndexByte(s, ']')+1, "+- \t")
	case isFootnote(s):
		return FootnoteLine, 0
	case label(s) > 0:
		return DefinitionLine, 0
	case s[0] == '<':
		return TagLine, 0
	case !item:
		return Prose, 0
	}
	end := skip(s, len(m.number)+1, " \t")
	if box := s[end:]; len(box) >= 3 && box[0] == '[' && box[2] == ']' && (len(box) == 3 || box[3] == ' ' || box[3] == '\t') {
		return TaskLine, skip(s, end+3, " \t")
	}
	return ItemLine, end
}

// IsRow reports whether a line is a row of a table as most people write them.
func IsRow(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " \t"), "|") }

// Fence returns the length of the code fence at the start of a line's text, 0 for none.
func Fence(s string) int {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return 0
	}
	n := skip(s, 0, s[:1])
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return 0
	}
	return n
}

// headingHashes counts the hashes of a heading, 0 if it is none.
func headingHashes(s string) int {
	n := skip(s, 0, "#")
	if n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func isFootnote(s string) bool {
	end := strings.Index(s, "]:")
	return strings.HasPrefix(s, "[^") && end > 2 && !strings.ContainsAny(s[:end], " \t")
}

// label returns the offset behind the label of the definition of a link, 0 without one.
func label(s string) int {
	end := strings.Index(s, "]:")
	if end < 2 || s[0] != '[' || strings.ContainsAny(s[1:end], "[]") {
		return 0
	}
	return end + 2
}

// isUnderline reports whether a line that is not blank makes a heading of the one before it.
func isUnderline(s string) bool {
	s = strings.TrimRight(s, " \t")
	return strings.Trim(s, "=") == "" || strings.Trim(s, "-") == ""
}

// isRule reports whether a line that is not blank is a thematic break.
func isRule(s string) bool {
	if c := s[0]; c != '-' && c != '*' && c != '_' {
		return false
	}
	return strings.Count(s, s[:1]) >= 3 && strings.Trim(s, s[:1]+" \t") == ""
}

func isCalloutTitle(s string) bool {
	return strings.HasPrefix(s, "[!") && strings.IndexByte(s, ']') > 2
}

// skip returns the offset after the run of bytes of set that starts at offset i.
func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}
