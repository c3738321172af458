package outline

import (
	"bytes"
	"fmt"
	"strings"
)

// Lists and quotes that nest more deeply than these limits are parsed as text. The limits are needed because a Markdown
// parser visits and allocates each open list and quote for every line.
const (
	// MaxDepth is the maximum nesting of lists and block quotes.
	MaxDepth = 50
	// MaxOpen is the maximum number of open lists and quotes, summed over all lines of a note. Above it, no list or
	// quote is parsed.
	MaxOpen = 2 << 20
)

// DepthError is the error for a text that exceeds [MaxDepth] or [MaxOpen]. Line is the line of the note, from 1.
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: lists and quotes are nested more than %d deep, or nested on too many lines; some of their markers are read as plain text", e.Line, MaxDepth)
}

// flatten turns each list or quote mark in src that nests too deeply into text, by replacing the first byte of the
// mark. Offsets stay the same. It returns the first line with such a mark, counted from 1, or 0.
func flatten(src []byte) (line int) {
	line, sum := flattenTo(src, MaxDepth)
	if sum > MaxOpen {
		line, _ = flattenTo(src, 0)
	}
	return line
}

// flattenTo does the same as flatten, for the given depth. sum is the number of open blocks, summed over all lines. It
// is never less than the number that a parser counts: a line without marks may belong to all open blocks, and a line
// with marks continues at most the lists that its indentation allows, and repeats its quotes.
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

// marksOf counts the list and quote marks that begin a line, and the columns of white space among them. It turns the
// mark with the index last into text and stops there.
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

func markLength(s []byte) int {
	if s[0] == '>' {
		return 1
	}
	return itemMark(s)
}

// itemMark returns the length of the mark of a list item at the start of s, or 0.
func itemMark[T string | []byte](s T) int {
	digits := 0
	for digits < len(s) && digits < 9 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	marks := "-*+"
	if digits > 0 {
		marks = ".)"
	}
	if digits == len(s) || strings.IndexByte(marks, s[digits]) < 0 || digits+1 < len(s) && strings.IndexByte(" \t\r\n\v\f", s[digits+1]) < 0 {
		return 0
	}
	return digits + 1
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
