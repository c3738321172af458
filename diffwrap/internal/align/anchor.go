package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// A comment belongs to the person who wrote it. Where both texts have it in a stretch that changed, it stays, and what
// is before and after it is compared again. One that was moved across a line that stays counts as another one.

// alignAround compares old and new, and keeps the given pairs of comments wherever they were moved.
func (a *aligner) alignAround(pairs []Hunk) []Hunk {
	hunks := a.align()
	comments := make([]span.Span, len(pairs))
	for k, p := range pairs {
		comments[k] = p.Old
	}
	if !slices.ContainsFunc(hunks, func(h Hunk) bool { return touched(comments, h.Old) > 0 }) {
		return hunks
	}
	a.hunks = nil
	a.splitAt(pairs, span.New(0, len(a.old.Text)), span.New(0, len(a.new.Text)))
	return a.hunks
}

// stretch compares the lines between two matched ones, and keeps the comments that both sides have.
func (a *aligner) stretch(match []int, i0, i1, j0, j1 int) {
	before := len(a.hunks)
	a.gaps(match, i0, i1, j0, j1)
	if i0 == i1 || j0 == j1 {
		return
	}
	old, new := a.gapSpans(i0, i1, j0, j1)
	pairs := a.commonComments(old, new)
	kept := len(Inside(a.old.Comments, old))
	for _, h := range a.hunks[before:] {
		kept -= touched(a.old.Comments, h.Old)
	}
	if kept < len(pairs) {
		a.hunks = a.hunks[:before]
		a.splitAt(pairs, old, new)
	}
}

func (a *aligner) commonComments(old, new span.Span) []Hunk {
	oldInside, newInside := Inside(a.old.Comments, old), Inside(a.new.Comments, new)
	if len(oldInside) == 0 || len(newInside) == 0 {
		return nil
	}
	match := a.matcher.Match(internAll(a, nil, a.old.Text, oldInside), internAll(a, nil, a.new.Text, newInside))
	var pairs []Hunk
	for k, partner := range match {
		if partner >= 0 {
			pairs = append(pairs, Hunk{oldInside[k], newInside[partner]})
		}
	}
	return pairs
}

// Inside returns the comments that lie within a stretch of text.
func Inside(comments []span.Span, s span.Span) []span.Span {
	at := func(off int) int {
		k, _ := slices.BinarySearchFunc(comments, off, func(c span.Span, off int) int { return c.Start - off })
		return k
	}
	from, to := at(s.Start), at(s.End)
	if from < to && comments[to-1].End > s.End {
		to--
	}
	return comments[from:to]
}

func touched(comments []span.Span, s span.Span) int {
	k, _ := slices.BinarySearchFunc(comments, s.Start, func(c span.Span, off int) int { return c.End - off - 1 })
	n := 0
	for k+n < len(comments) && comments[k+n].Start < s.End {
		n++
	}
	return n
}

// splitAt compares what lies before, between and after pairs of comments.
func (a *aligner) splitAt(pairs []Hunk, old, new span.Span) {
	for _, p := range pairs {
		a.part(span.New(old.Start, p.Old.Start), span.New(new.Start, p.New.Start))
		old.Start, new.Start = p.Old.End, p.New.End
	}
	a.part(old, new)
}

// part compares two stretches of text as texts of their own.
func (a *aligner) part(old, new span.Span) {
	part := aligner{
		old:      Side{old.Of(a.old.Text), span.Shift(Inside(a.old.Comments, old), -old.Start)},
		new:      Side{new.Of(a.new.Text), span.Shift(Inside(a.new.Comments, new), -new.Start)},
		exact:    a.exact,
		fragment: a.fragment && old.Start == 0 || !linebreak.StartsLine(a.old.Text, old.Start) || !linebreak.StartsLine(a.new.Text, new.Start),
	}
	for _, h := range part.align() {
		a.change(h.Old.Shift(old.Start), h.New.Shift(new.Start))
	}
}
