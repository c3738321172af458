package filereplace

import (
	"bytes"
)

// merge3 makes in one text both what theirs and what ours changed in ancestor.
// Each side's change is the run of lines between their first and last
// difference, so that there is nothing to guess: if the two runs overlap, ok is
// false. A nil ancestor is unknown.
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

// hunk says that the bytes from start to end became text.
type hunk struct {
	start, end int
	text       []byte
}

// changedLines is the smallest run of whole lines of before outside of which
// after is the same.
func changedLines(before, after []byte) hunk {
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
	return hunk{start: start, end: len(before) - tail, text: after[start : len(after)-tail]}
}

// wholeLines shortens a common tail of n bytes until it begins at a line's
// beginning in both texts.
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
