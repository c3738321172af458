// Package script has edits of a text: how they are carried out, joined and composed. It compares nothing.
package script

import "strings"

// Edit replaces Len bytes at byte offset Off of a text by New. A script is a []Edit sorted by Off, without
// overlaps, whose offsets all refer to the text before the first edit; two edits may touch.
// Offsets never fall inside a UTF-8 sequence.
type Edit struct {
	Off, Len int
	New      string
}

// Apply returns text with a script carried out.
func Apply(text string, edits []Edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	grow := len(text)
	for _, e := range edits {
		grow += len(e.New) - e.Len
	}
	b.Grow(grow)
	pos := 0
	for _, e := range edits {
		b.WriteString(text[pos:e.Off])
		b.WriteString(e.New)
		pos = e.Off + e.Len
	}
	b.WriteString(text[pos:])
	return b.String()
}

// Append adds an edit to a script, joining it to the last one where the two touch.
func Append(script []Edit, e Edit) []Edit {
	if e.Len == 0 && e.New == "" {
		return script
	}
	if n := len(script); n > 0 {
		if last := &script[n-1]; last.Off+last.Len == e.Off {
			last.Len += e.Len
			last.New += e.New
			return script
		}
	}
	return append(script, e)
}
