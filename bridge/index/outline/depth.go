package outline

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
)

// Lists and quotes that nest more deeply than these limits may be parsed as text.
const (
	// MaxDepth is the maximum nesting of lists and block quotes.
	MaxDepth = block.MaxDepth
	// MaxOpen is the maximum number of open lists and quotes, summed over all lines of a note.
	MaxOpen = 2 << 20
)

// DepthError is the error for a text that exceeds [MaxDepth] or [MaxOpen]. Line is the line of the note, from 1.
type DepthError struct{ Line int }

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d: lists and quotes are nested more than %d deep, or nested on too many lines; some of their markers are read as plain text", e.Line, MaxDepth)
}

// tooDeep returns the first line of a text that exceeds MaxDepth or MaxOpen, counted from 1, or 0.
func tooDeep(text string) (line int) {
	line, sum := deeper(text, MaxDepth)
	if sum > MaxOpen {
		line, _ = deeper(text, 0)
	}
	return line
}

// deeper returns the first line that nests more deeply than depth, or 0. sum is the number of open blocks, summed over
// all lines. It is never less than the number that a parser counts: a line without marks may belong to all open blocks,
// and a line with marks continues at most the lists that its indentation allows, and repeats its quotes.
func deeper(text string, depth int) (line, sum int) {
	open, n := 0, 0
	for s := range strings.Lines(text) {
		n++
		if marks, blank := marksOf(strings.TrimRight(s, "\r\n")); marks > 0 {
			if open = min(open, blank/2) + marks; open > depth {
				open = depth
				if line == 0 {
					line = n
				}
			}
		}
		sum += open
	}
	return line, sum
}

// marksOf counts the list and quote marks that begin a line, and the columns of white space among them.
func marksOf(line string) (marks, blank int) {
	for i := 0; i < len(line); {
		n := block.ItemMark(line[i:])
		if line[i] == '>' {
			n = 1
		}
		switch {
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

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
