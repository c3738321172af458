package passage

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// Place is where a text was found in a document, in bytes.
type Place struct{ Start, End int }

// Position is a character of a text: its line and its column in that, counted
// from 1.
type Position struct{ Line, Column int }

// At is the position of off in text.
func At(text string, off int) Position {
	start := strings.LastIndexByte(text[:off], '\n') + 1
	line := strings.TrimPrefix(text[start:off], BOM)
	return Position{LineOf(text, off), utf8.RuneCountInString(line) + 1}
}

// LineOf is the number of the line of doc that holds off, counted from 1.
func LineOf(doc string, off int) int { return 1 + strings.Count(doc[:off], "\n") }

// NameLines names the lines on which the places begin.
func NameLines(doc string, places []Place) string {
	var lines []string
	line, done := 1, 0
	for _, p := range places {
		line += strings.Count(doc[done:p.Start], "\n")
		done = p.Start
		if n := strconv.Itoa(line); len(lines) == 0 || lines[len(lines)-1] != n {
			lines = append(lines, n)
		}
	}
	if len(lines) == 1 {
		return "line " + lines[0]
	}
	if len(lines) > MaxNamed {
		lines = append(lines[:MaxNamed], "...")
	}
	return "lines " + strings.Join(lines, ", ")
}

// MaxNamed is how many line numbers an error lists.
const MaxNamed = 20

// BOM is the byte order mark, which is not shown.
const BOM = diffwrap.ByteOrderMark

// CountLines counts the lines of a text; a break ends the last one.
func CountLines(text string) int {
	text = strings.TrimPrefix(text, BOM)
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

// SplitLines splits a document at its line breaks, of either kind; the last one
// ends the last line. A byte order mark is not shown.
func SplitLines(doc string) []string {
	doc = strings.TrimPrefix(doc, BOM)
	var lines []string
	for off := 0; off < len(doc); {
		line, length := lineAt(doc, off)
		lines = append(lines, line)
		off += length
	}
	return lines
}

// LineAround is the line of doc that holds off, without its break.
func LineAround(doc string, off int) string {
	line := doc[strings.LastIndexByte(doc[:off], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// bytesOf is how long the first n characters of s are, if it has so many.
func bytesOf(s string, n int) (size int, ok bool) {
	for ; n > 0 && size < len(s); n-- {
		_, c := utf8.DecodeRuneInString(s[size:])
		size += c
	}
	return size, n == 0
}
