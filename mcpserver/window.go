package mcpserver

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// The tools that read show a window of a text: whole lines, as many as fit into
// an answer. A line that is too long by itself is shown in parts, and the next
// window begins at a column of it.

// position is a character of a text: its line and its column in that, counted
// from 1.
type position struct{ line, column int }

// window is a part of a text.
type window struct {
	lines []string // without their breaks; the first and the last may be parts
	begin position
	next  position // where the rest begins; zero if there is none
	place place    // in the text
	total int      // lines of the text
	ended bool     // a break ends the last line that is shown
}

// windowOf is the window of text that begins at begin and ends with the line last
// at the latest, as far as the lines cost limit; cost is that of a piece of text.
// It is empty if there is no such line.
func windowOf(text string, begin position, last, limit int, cost func(string) int) (window, error) {
	begin = position{max(begin.line, 1), max(begin.column, 1)}
	w := window{begin: begin, total: countLines(text)}
	if begin.line > w.total {
		return w, nil
	}
	off := 0
	if strings.HasPrefix(text, bom) {
		off = len(bom)
	}
	for range begin.line - 1 {
		off += strings.IndexByte(text[off:], '\n') + 1
	}
	w.place.start = off
	if begin == (position{1, 1}) {
		w.place.start = 0
	}
	line, length := lineAt(text, off)
	skipped, ok := bytesOf(line, begin.column-1)
	if !ok {
		return w, answer.WrongArgument("The argument \"column\" is %d, and line %d has %s.", begin.column, begin.line, answer.Count(utf8.RuneCountInString(line), "character"))
	}
	w.place.start, w.place.end = w.place.start+skipped, off+skipped
	line = line[skipped:]
	used := 0
	for n := begin.line; n <= min(last, w.total); n++ {
		if n > begin.line {
			line, length = lineAt(text, off)
		}
		used += cost(line)
		if used > limit && n > begin.line {
			w.next = position{n, 1}
			return w, nil
		}
		if used > limit {
			short := partOf(line, limit, cost)
			w.lines, w.ended = append(w.lines, short), false
			w.place.end += len(short)
			w.next = position{n, begin.column + utf8.RuneCountInString(short)}
			return w, nil
		}
		off += length
		w.lines, w.place.end = append(w.lines, line), off
		w.ended = strings.HasSuffix(text[:off], "\n")
	}
	if last < w.total {
		w.next = position{last + 1, 1}
	}
	return w, nil
}

const bom = diffwrap.ByteOrderMark

// countLines counts the lines of a text; a break ends the last one.
func countLines(text string) int {
	text = strings.TrimPrefix(text, bom)
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// lineAt is the line of text that begins at off, without its break, and its length
// with it.
func lineAt(text string, off int) (line string, length int) {
	i := strings.IndexByte(text[off:], '\n')
	if i < 0 {
		return text[off:], len(text) - off
	}
	return strings.TrimSuffix(text[off:off+i], "\r"), i + 1
}

// bytesOf is how long the first n characters of s are, if it has so many.
func bytesOf(s string, n int) (size int, ok bool) {
	for ; n > 0 && size < len(s); n-- {
		_, c := utf8.DecodeRuneInString(s[size:])
		size += c
	}
	return size, n == 0
}

// partOf is the longest beginning of line that costs at most limit and does not
// end within what a person sees as one character, if there is one.
func partOf(line string, limit int, cost func(string) int) string {
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

// notice says what of the text was not shown. how names the call that shows more.
func (w window) notice(how func(position) string) string {
	if w.next == (position{}) {
		return ""
	}
	s := fmt.Sprintf("Showing lines %d-%d of %d", w.begin.line, w.begin.line+len(w.lines)-1, w.total)
	if w.begin.column > 1 {
		s += fmt.Sprintf(", from character %d of line %d", w.begin.column, w.begin.line)
	}
	if w.next.column > 1 {
		s += fmt.Sprintf(", up to character %d of line %d", w.next.column-1, w.next.line)
	}
	return s + ". Call " + how(w.next) + " to see more."
}

// at is the position of off in text.
func at(text string, off int) position {
	start := strings.LastIndexByte(text[:off], '\n') + 1
	line := strings.TrimPrefix(text[start:off], bom)
	return position{lineOf(text, off), utf8.RuneCountInString(line) + 1}
}
