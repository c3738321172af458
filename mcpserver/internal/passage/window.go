package passage

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// The tools that read show a window of a text: whole lines, as many as fit into
// an answer. A line that is too long by itself is shown in parts, and the next
// window begins at a column of it.

// Window is a part of a text.
type Window struct {
	Lines []string // without their breaks; the first and the last may be parts
	Begin Position
	Next  Position // where the rest begins; zero if there is none
	Place Place    // in the text
	Total int      // lines of the text
	ended bool     // a break ends the last line that is shown
}

// WindowOf is the window of text that begins at begin and ends with the line last
// at the latest, as far as the lines cost limit; cost is that of a piece of text.
// It is empty if there is no such line.
func WindowOf(text string, begin Position, last, limit int, cost func(string) int) (Window, error) {
	begin = Position{max(begin.Line, 1), max(begin.Column, 1)}
	w := Window{Begin: begin, Total: CountLines(text)}
	if begin.Line > w.Total {
		return w, nil
	}
	off := 0
	if strings.HasPrefix(text, BOM) {
		off = len(BOM)
	}
	for range begin.Line - 1 {
		off += strings.IndexByte(text[off:], '\n') + 1
	}
	w.Place.Start = off
	if begin == (Position{1, 1}) {
		w.Place.Start = 0
	}
	line, length := lineAt(text, off)
	skipped, ok := bytesOf(line, begin.Column-1)
	if !ok {
		return w, answer.WrongArgument("The argument \"column\" is %d, and line %d has %s.", begin.Column, begin.Line, answer.Count(utf8.RuneCountInString(line), "character"))
	}
	w.Place.Start, w.Place.End = w.Place.Start+skipped, off+skipped
	line = line[skipped:]
	used := 0
	for n := begin.Line; n <= min(last, w.Total); n++ {
		if n > begin.Line {
			line, length = lineAt(text, off)
		}
		used += cost(line)
		if used > limit && n > begin.Line {
			w.Next = Position{n, 1}
			return w, nil
		}
		if used > limit {
			short := PartOf(line, limit, cost)
			w.Lines, w.ended = append(w.Lines, short), false
			w.Place.End += len(short)
			w.Next = Position{n, begin.Column + utf8.RuneCountInString(short)}
			return w, nil
		}
		off += length
		w.Lines, w.Place.End = append(w.Lines, line), off
		w.ended = strings.HasSuffix(text[:off], "\n")
	}
	if last < w.Total {
		w.Next = Position{last + 1, 1}
	}
	return w, nil
}

// PartOf is the longest beginning of line that costs at most limit and does not
// end within what a person sees as one character, if there is one.
func PartOf(line string, limit int, cost func(string) int) string {
	margin := cost("")
	end, used, state := 0, margin, -1
	for rest := line; rest != ""; {
		var cluster string
		// Only so much is looked at: a cluster may be as long as the line.
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(rest[:min(len(rest), answer.Max)], state)
		if used += cost(cluster) - margin; used > limit {
			break
		}
		end += len(cluster)
		rest = rest[len(cluster):]
	}
	if end > 0 {
		return line[:end]
	}
	for end < len(line) {
		_, n := utf8.DecodeRuneInString(line[end:])
		if end > 0 && cost(line[:end+n]) > limit {
			break
		}
		end += n
	}
	return line[:end]
}

// Notice says what of the text was not shown. how names the call that shows more.
func (w Window) Notice(how func(Position) string) string {
	if w.Next == (Position{}) {
		return ""
	}
	s := fmt.Sprintf("Showing lines %d-%d of %d", w.Begin.Line, w.Begin.Line+len(w.Lines)-1, w.Total)
	if w.Begin.Column > 1 {
		s += fmt.Sprintf(", from character %d of line %d", w.Begin.Column, w.Begin.Line)
	}
	if w.Next.Column > 1 {
		s += fmt.Sprintf(", up to character %d of line %d", w.Next.Column-1, w.Next.Line)
	}
	return s + ". Call " + how(w.Next) + " to see more."
}
