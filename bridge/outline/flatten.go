package outline

import (
	"bytes"
	"fmt"
	"strings"
)

// What is nested deeper than this is read as plain text: a Markdown parser looks at
// every open list and quote on every line, and remembers it.
const (
	// MaxDepth is how deep lists and block quotes are followed into one another.
	MaxDepth = 50
	// MaxOpen is how many may be open on all lines of a note together. If there are
	// more, none is followed.
	MaxOpen = 2 << 20
)

// DepthError says that a text is nested deeper than [MaxDepth], or than [MaxOpen] allows.
// Line is that of the note, counted from 1.
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: lists and quotes are nested more than %d deep, or on too many lines; what is deeper is read as plain text", e.Line, MaxDepth)
}

// flatten makes text of the marks in src that nest too deeply, by another first byte,
// so that offsets stay. It returns the first line with one, counted from 1, or 0.
func flatten(src []byte) (line int) {
	line, sum := flattenTo(src, MaxDepth)
	if sum > MaxOpen {
		line, _ = flattenTo(src, 0)
	}
	return line
}

// flattenTo makes text of what nests deeper than depth, and says how many blocks are
// open on all lines together.
//
// It counts at least as many open blocks as a parser does: a line without marks may
// belong to all of them; one with marks goes on with no more lists than it has
// indentation for, and shows its quotes again.
func flattenTo(src []byte, depth int) (line, sum int) {
	open := 0
	for n := 1; len(src) > 0; n++ {
		end := bytes.IndexByte(src, '\n') + 1
		if end == 0 {
			end = len(src)
		}
		if marks, blank := marksOf(src[:end], -1); marks > 0 {
			kept := min(open, blank/2)
			if open = kept + marks; open > depth {
				marksOf(src[:end], depth-kept)
				open = depth
				if line == 0 {
					line = n
				}
			}
		}
		sum += open
		src = src[end:]
	}
	return line, sum
}

// marksOf counts the marks of lists and quotes that a line begins with, and the
// columns of white space among them. The mark with the number last, counted from 0,
// becomes text, and nothing behind it is looked at.
func marksOf(line []byte, last int) (marks, blank int) {
	for i := 0; i < len(line); {
		n := markLength(line[i:])
		switch {
		case n > 0 && marks == last:
			line[i] = 'x'
			return marks, blank
		case n > 0:
			marks++
			i += n
		case line[i] == '\t':
			blank += 4
			i++
		case isBlank(line[i]):
			blank++
			i++
		default:
			return marks, blank
		}
	}
	return marks, blank
}

// markLength is the length of the mark of a quote or a list item at the start of s, or
// 0.
func markLength(s []byte) int {
	if s[0] == '>' {
		return 1
	}
	n := 0
	for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	ends := "-*+"
	if n > 0 {
		ends = ".)"
	}
	if n == len(s) || strings.IndexByte(ends, s[n]) < 0 || n+1 < len(s) && !isBlank(s[n+1]) {
		return 0
	}
	return n + 1
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
