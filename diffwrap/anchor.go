package diffwrap

import "slices"

// A comment belongs to the person who wrote it. Where both texts have it in a stretch that changed, it stays, and the
// change is compared anew before and behind it. One that was moved across a line that stays is another one at its new
// place.

// alignAround compares old and new, and keeps the given pairs of comments wherever they were moved.
func (a *aligner) alignAround(pairs []hunk) []hunk {
	hunks := a.align()
	comments := make([]span, len(pairs))
	for k, p := range pairs {
		comments[k] = p.old
	}
	if !slices.ContainsFunc(hunks, func(h hunk) bool { return touched(comments, h.old) > 0 }) {
		return hunks
	}
	a.hunks = nil
	a.splitAt(pairs, span{0, len(a.old.text)}, span{0, len(a.new.text)})
	return a.hunks
}

// stretch compares the lines between two matched ones, and makes sure that no comment is lost that they have on both
// sides.
func (a *aligner) stretch(match []int, i0, i1, j0, j1 int) {
	before := len(a.hunks)
	a.gaps(match, i0, i1, j0, j1)
	if i0 == i1 || j0 == j1 {
		return
	}
	old, new := a.gapSpans(i0, i1, j0, j1)
	pairs := a.commonComments(old, new)
	kept := len(inside(a.old.comments, old))
	for _, h := range a.hunks[before:] {
		kept -= touched(a.old.comments, h.old)
	}
	if kept < len(pairs) {
		a.hunks = a.hunks[:before]
		a.splitAt(pairs, old, new)
	}
}

// commonComments pairs the comments that two stretches of text have in common, in order.
func (a *aligner) commonComments(old, new span) []hunk {
	oldInside, newInside := inside(a.old.comments, old), inside(a.new.comments, new)
	if len(oldInside) == 0 || len(newInside) == 0 {
		return nil
	}
	match := commonSubsequence(a.internSpans(a.old.text, oldInside), a.internSpans(a.new.text, newInside))
	var pairs []hunk
	for k, partner := range match {
		if partner >= 0 {
			pairs = append(pairs, hunk{oldInside[k], newInside[partner]})
		}
	}
	return pairs
}

// inside returns the comments that lie within a stretch of text.
func inside(comments []span, s span) []span {
	at := func(off int) int {
		k, _ := slices.BinarySearchFunc(comments, off, func(c span, off int) int { return c.start - off })
		return k
	}
	from, to := at(s.start), at(s.end)
	if from < to && comments[to-1].end > s.end {
		to--
	}
	return comments[from:to]
}

// touched returns how many comments a change of a stretch of text would reach into.
func touched(comments []span, s span) int {
	k, _ := slices.BinarySearchFunc(comments, s.start, func(c span, off int) int { return c.end - off - 1 })
	n := 0
	for k+n < len(comments) && comments[k+n].start < s.end {
		n++
	}
	return n
}

func (a *aligner) internSpans(text string, spans []span) []int {
	out := make([]int, len(spans))
	for k, s := range spans {
		out[k] = a.intern(s.of(text))
	}
	return out
}

// splitAt compares what lies before, between and behind pairs of comments.
func (a *aligner) splitAt(pairs []hunk, old, new span) {
	for _, p := range pairs {
		a.part(span{old.start, p.old.start}, span{new.start, p.new.start})
		old.start, new.start = p.old.end, p.new.end
	}
	a.part(old, new)
}

// part compares two stretches of text as texts of their own.
func (a *aligner) part(old, new span) {
	part := aligner{
		old:      side{old.of(a.old.text), shift(inside(a.old.comments, old), -old.start)},
		new:      side{new.of(a.new.text), shift(inside(a.new.comments, new), -new.start)},
		exact:    a.exact,
		fragment: a.fragment && old.start == 0 || !startsLine(a.old.text, old.start) || !startsLine(a.new.text, new.start),
	}
	for _, h := range part.align() {
		a.change(h.old.shift(old.start), h.new.shift(new.start))
	}
}

// startsLine reports whether offset i of text is at the start of a line.
func startsLine(text string, i int) bool { return i == 0 || text[i-1] == '\n' }
