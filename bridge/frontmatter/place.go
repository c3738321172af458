package frontmatter

import "strings"

type Range struct{ From, To int }

// The limits are necessary because Comments parses the front matter again for each line with a '#'.
const (
	maxCommented = 200
	maxCompared  = 64 << 10
)

// Comments returns the comments in the front matter of a note, from '#' to the end of the line. It omits each '#'
// inside a value. But in invalid or very long front matter, and after the first maxCommented candidates, it considers
// every '#' after a blank or at the start of a line to be the start of a comment.
func Comments(text string) (list []Range) {
	src, body, has := Split(text)
	if !has || !strings.Contains(src, "#") {
		return nil
	}
	have, err := ParseYAML(src)
	first := lineEnd(text, 0)
	tries := maxCommented
	if err != nil || len(src) > maxCompared {
		tries = 0
	}
	off := first
	for line := range strings.Lines(text[first:body]) {
		end := off + len(strings.TrimRight(line, "\r\n"))
		for i := off; i < end; i++ {
			if text[i] != '#' || i > off && text[i-1] != ' ' && text[i-1] != '\t' {
				continue
			}
			if tries > 0 {
				tries--
				without, err := ParseYAML(src[:i-first] + src[end-first:])
				if err != nil || !Equal(without, have) {
					continue
				}
			}
			list = append(list, Range{i, end})
			break
		}
		off += len(line)
	}
	return list
}

// Entry returns the lines of the property key, without the comments before it. ok is false if the property is missing,
// or if the front matter is invalid or has several properties on one line.
func Entry(text, key string) (at Range, ok bool) {
	src, _, has := Split(text)
	root, err := rootOf(src)
	if !has || err != nil || root == nil {
		return at, false
	}
	e := &editor{src: src, lines: linesOf(src)}
	entries, ok := e.entriesOf(root, len(src))
	if !ok {
		return at, false
	}
	first := lineEnd(text, 0)
	for _, x := range entries {
		if keyOf(x.key) == key {
			return Range{first + x.from, first + e.lineEnd(e.contentEnd(x.from, x.limit, root.Column-1))}, true
		}
	}
	return at, false
}
