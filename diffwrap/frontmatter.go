package diffwrap

import "strings"

// FrontMatterPolicy says what Put does with a change of the front matter, which is never marked: a mark in YAML makes
// all properties of the note unreadable.
type FrontMatterPolicy int

const (
	// FrontMatterDirect writes the change plainly and reports it in Result.FrontMatter, so that it can be undone.
	FrontMatterDirect FrontMatterPolicy = iota
	// FrontMatterRefuse refuses it with ErrFrontMatterRefused.
	FrontMatterRefuse
)

// FrontMatterChange is a front matter block before and after a Put, fences included; "" where there was or is none.
type FrontMatterChange struct{ Before, After string }

// FrontMatter returns the length in bytes of the front matter block at offset 0 of text, the closing line included,
// and whether there is one. A block opens with a line --- and ends with the next such line.
func FrontMatter(text string) (end int, ok bool) {
	if !startsWithFence(text) {
		return 0, false
	}
	for i := lineEnd(text, 0); i < len(text); {
		next := lineEnd(text, i)
		if isFence(text[i:next]) {
			return next, true
		}
		i = next
	}
	return 0, false
}

// startsWithFence reports whether the first line is --- and has a line break.
func startsWithFence(text string) bool {
	end := lineEnd(text, 0)
	return isFence(text[:end]) && strings.HasSuffix(text[:end], "\n")
}

// isFence reports whether a line, its break included, is --- up to trailing blanks.
func isFence(line string) bool {
	return strings.HasPrefix(line, "---") && strings.TrimRight(line[3:], " \t\r\n") == ""
}

// lineEnd returns the offset after the line break that ends the line at offset i.
func lineEnd(text string, i int) int {
	if at := strings.IndexByte(text[i:], '\n'); at >= 0 {
		return i + at + 1
	}
	return len(text)
}
