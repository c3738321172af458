package frontmatter

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
)

// block is where a note's front matter is: text[from:to] is its YAML, and the
// body begins at body. Without front matter, all three are where it would begin.
type block struct {
	from, to, body int
	has            bool
}

// Split returns the YAML between the fences of a note's front matter and the
// offset, in bytes, at which the body begins. Without front matter, has is false
// and the body begins behind the byte order mark, if there is one.
func Split(text string) (yaml string, body int, has bool) {
	b := split(text)
	return text[b.from:b.to], b.body, b.has
}

func split(text string) block {
	start := 0
	if strings.HasPrefix(text, diffwrap.ByteOrderMark) {
		start = len(diffwrap.ByteOrderMark)
	}
	none := block{from: start, to: start, body: start}
	first := lineEnd(text, start)
	if !isFence(text[start:first]) || text[first-1] != '\n' {
		return none
	}
	for i := first; i < len(text); {
		next := lineEnd(text, i)
		if isFence(text[i:next]) {
			return block{from: first, to: i, body: next, has: true}
		}
		i = next
	}
	return none
}

// isFence reports whether a line is "---" up to trailing blanks.
func isFence(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	return ok && strings.TrimRight(rest, " \t\r\n") == ""
}

// lineEnd is the offset behind the line break that ends the line at i.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// lineBreak is how text ends its lines.
func lineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
