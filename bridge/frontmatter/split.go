package frontmatter

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
)

// Split returns the YAML between the fences of a note's front matter, and the offset of the body. Without front matter,
// has is false, and the body begins at the start of the note or after its byte order mark.
func Split(text string) (yaml string, body int, has bool) {
	body, has = diffwrap.FrontMatter(text)
	if !has {
		return "", body, false
	}
	closing := 1 + strings.LastIndexByte(strings.TrimSuffix(text[:body], "\n"), '\n')
	return text[lineEnd(text, 0):closing], body, true
}

func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

func lineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
