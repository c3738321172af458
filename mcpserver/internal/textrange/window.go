package textrange

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// A window contains as many whole lines as fit into a result. If even the first line does not fit, the window ends
// inside that line, and the next window begins at a column of it.

type Window struct {
	Lines []string // without line breaks; the first and the last line may be partial
	Begin Position
	Next  Position // where the next window starts; zero if there is none
	Range Range
	Total int  // number of lines of the text
	ended bool // whether a line break ends the last shown line
}

// WindowOf returns the window from begin to line number last. The window ends earlier if the total cost of the lines
// would exceed limit. It is empty if the text has no line at begin.
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
	w.Range.Start = off
	if begin == (Position{1, 1}) {
		w.Range.Start = 0
	}
	line, length := lineAt(text, off)
	skipped, ok := prefixLen(line, begin.Column-1)
	if !ok {
		return w, result.InvalidArgument("The argument \"column\" is %d, and line %d has %s.", begin.Column, begin.Line, result.Count(utf8.RuneCountInString(line), "character"))
	}
	w.Range.Start, w.Range.End = w.Range.Start+skipped, off+skipped
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
			w.Range.End += len(short)
			w.Next = Position{n, begin.Column + utf8.RuneCountInString(short)}
			return w, nil
		}
		off += length
		w.Lines, w.Range.End = append(w.Lines, line), off
		w.ended = strings.HasSuffix(text[:off], "\n")
	}
	if last < w.Total {
		w.Next = Position{last + 1, 1}
	}
	return w, nil
}

// PartOf returns the longest prefix of line whose cost is within limit, but at least one character. The prefix ends
// between grapheme clusters, unless even the first cluster does not fit.
func PartOf(line string, limit int, cost func(string) int) string {
	margin := cost("")
	end, used, state := 0, margin, -1
	for rest := line; rest != ""; {
		var cluster string
		// A cluster may be as long as the line, so the search for its end is limited.
		cluster, _, _, state = uniseg.FirstGraphemeClusterInString(rest[:min(len(rest), result.Max)], state)
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

// Notice describes the part that is shown, or returns "" if there is no next window. how must describe the call that
// shows more.
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

// WindowForResult returns the window for a structured result, in which each line costs margin extra characters. The
// window extends from begin to line *end. If end is nil, it extends at most to line begin.Line + most.
func WindowForResult(path, text string, begin Position, end *int, most, margin int) (Window, error) {
	total := CountLines(text)
	last := begin.Line + min(most, total)
	switch {
	case end != nil && *end < begin.Line:
		return Window{}, result.InvalidArgument("The argument \"end_line\" (%d) must not be less than \"start_line\" (%d).", *end, begin.Line)
	case begin.Line > 1 && begin.Line > total:
		return Window{}, result.InvalidArgument("The argument \"start_line\" is %d, and the document has %s.", begin.Line, result.Count(total, "line"))
	case end != nil:
		last = *end
	}
	limit := result.Max - result.ProtocolOverhead - result.StructuredCost(path) - 1400
	w, err := WindowOf(text, begin, last, limit, func(s string) int { return result.StructuredCost(s) + 2*margin })
	if end != nil && w.Next.Line > *end {
		w.Next = Position{}
	}
	return w, err
}

// Content returns the lines as one text, which ends in a line break only if the original text does.
func (w Window) Content() string {
	content := strings.Join(w.Lines, "\n")
	if w.ended && w.Begin.Line+len(w.Lines) > w.Total {
		content += "\n"
	}
	return content
}
