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
	was, is := bytes.SplitAfter(before, []byte{'\n'}), bytes.SplitAfter(after, []byte{'\n'})
	start, tail := 0, 0 // sizes of the common lines at the start and at the end
	for len(was) > 1 && len(is) > 1 && bytes.Equal(was[0], is[0]) {
		start += len(was[0])
		was, is = was[1:], is[1:]
	}
	for n, m := len(was), len(is); n > 0 && m > 0 && bytes.Equal(was[n-1], is[m-1]); n, m = n-1, m-1 {
		tail += len(was[n-1])
	}
	return lineHunk{start: start, end: len(before) - tail, text: after[start : len(after)-tail]}
}
