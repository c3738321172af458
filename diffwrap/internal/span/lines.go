package span

import "strings"

// BreakLen returns the length of the line break at the start of s, or 0.
func BreakLen(s string) int {
	switch {
	case strings.HasPrefix(s, "\n"):
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// FinalBreakLen returns the length of the line break at the end of s, or 0.
func FinalBreakLen(s string) int {
	if !strings.HasSuffix(s, "\n") {
		return 0
	}
	return len(s) - BreakStart(s, len(s)-1, 0)
}

// BreakStart returns the start of the line break whose line feed is text[at]. For CR LF the start is one byte earlier,
// unless that byte is before from, the start of the range.
func BreakStart(text string, at, from int) int {
	if at > from && text[at-1] == '\r' {
		return at - 1
	}
	return at
}

func LineEnd(text string, i int) int {
	if at := strings.IndexByte(text[i:], '\n'); at >= 0 {
		return i + at + 1
	}
	return len(text)
}

func LineStart(text string, i int) int { return strings.LastIndexByte(text[:i], '\n') + 1 }

func StartsWithBreak(s string) bool { return s == "" || BreakLen(s) > 0 }

func StartsLine(text string, i int) bool { return i == 0 || text[i-1] == '\n' }

func LineOf(text string, off int) int { return 1 + strings.Count(text[:off], "\n") }

// SameButBreaks reports whether two texts are equal except for the kind of their line breaks and a final line break.
func SameButBreaks(a, b string) bool { return normal(a) == normal(b) }

func normal(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }

// Skip returns the offset after the run of bytes of set that starts at offset i.
func Skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}
