package outline

import (
	"bytes"
	"fmt"

	"github.com/relayfs/relayfs/bridge/index/links"
)

// Limits of nesting; deeper marks are parsed as text. A Markdown parser visits and allocates for every open list and quote
// on every line.
const (
	// MaxDepth is the depth to which lists and block quotes nest.
	MaxDepth = 50
	// MaxOpen bounds the open ones, summed over all lines of a note. If there are more, no list or quote is parsed.
	MaxOpen = 2 << 20
)

// DepthError is the error for a text that is nested deeper than [MaxDepth] or [MaxOpen] allows. Line is the line of the
// note, from 1.
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: lists and quotes are nested more than %d deep, or on too many lines; what is deeper is read as plain text", e.Line, MaxDepth)
}

// flatten replaces the first byte of each mark in src that nests too deeply, so that it becomes text and offsets stay. It
// returns the first such line, from 1, or 0.
func flatten(src []byte) (line int) {
	line, sum := flattenTo(src, MaxDepth)
	if sum > MaxOpen {
		line, _ = flattenTo(src, 0)
	}
	return line
}

// flattenTo is flatten for one depth. sum is the number of open blocks, summed over all lines. It counts at least as many as
// a parser: a line without marks may belong to all open blocks; one with marks continues no more lists than its indentation
// allows, and repeats its quotes.
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

// marksOf counts the marks of lists and quotes that begin a line, and the columns of white space among them. It turns the
// mark with the index last into text, and stops there.
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

// markLength returns the length of the mark of a quote or a list item at the start of s, or 0.
func markLength(s []byte) int {
	if s[0] == '>' {
		return 1
	}
	return links.ListMark(s)
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
