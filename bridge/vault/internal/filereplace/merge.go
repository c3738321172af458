package filereplace

import (
	"bytes"
)

// merge3 applies the changes of both theirs and ours to ancestor. Each side's change is the run of lines between its
// first and last difference. If theirs and ours are equal, merge3 returns ours. Otherwise ok is false if the two
// changes overlap, or if ancestor is unknown (nil).
func merge3(ancestor, theirs, ours []byte) (merged []byte, ok bool) {
	if bytes.Equal(theirs, ours) {
		return ours, true
	}
	if ancestor == nil {
		return nil, false
	}
	t, o := changedLines(ancestor, theirs), changedLines(ancestor, ours)
	switch {
	case o.end <= t.start:
		return bytes.Join([][]byte{ancestor[:o.start], o.text, ancestor[o.end:t.start], t.text, ancestor[t.end:]}, nil), true
	case t.end <= o.start:
		return bytes.Join([][]byte{ancestor[:t.start], t.text, ancestor[t.end:o.start], o.text, ancestor[o.end:]}, nil), true
	}
	return nil, false
}

type lineHunk struct {
	start, end int
	text       []byte
}

// changedLines returns the smallest change of whole lines that turns one text into the other.
func changedLines(before, after []byte) lineHunk {
	limit := min(len(before), len(after))
	start := 0
	for start < limit && before[start] == after[start] {
		start++
	}
	start = bytes.LastIndexByte(before[:start], '\n') + 1
	tail := 0
	for tail < limit-start && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	tail = wholeLines(before, after, tail)
	return lineHunk{start: start, end: len(before) - tail, text: after[start : len(after)-tail]}
}

// wholeLines shortens a common tail of n bytes until it starts at a line start in both texts.
func wholeLines(before, after []byte, n int) int {
	lineStart := func(s []byte) bool { return n == len(s) || s[len(s)-n-1] == '\n' }
	for n > 0 && (!lineStart(before) || !lineStart(after)) {
		rest := bytes.IndexByte(before[len(before)-n:], '\n')
		if rest < 0 {
			return 0
		}
		n -= rest + 1
	}
	return n
}
