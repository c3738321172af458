package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// A comment belongs to its author. If both texts of a changed stretch (see stretchLength) have the comment, it is kept,
// and the texts before and after the comment are compared again. A comment that was moved across a line that both texts
// have counts as another comment.

// keepComments returns the hunks of a stretch. If they touch comments that can stay, it returns hunks around those
// comments instead.
func keepComments(r *Comparer, hunks []Hunk, o, n *lineText, stretch step) []Hunk {
	if len(hunks) == 0 || len(o.Comments) == 0 || stretch.old.Empty() || stretch.new.Empty() {
		return hunks
	}
	whole := wholeLines(o, n, stretch)
	pairs := commonComments(r, o.Side, n.Side, whole)
	kept := len(Inside(o.Comments, whole.Old))
	for _, h := range hunks {
		kept -= touched(o.Comments, h.Old)
	}
	if kept >= len(pairs) {
		return hunks
	}
	return compareAround(r, o.Side, n.Side, o.mode, pairs, whole)
}

// commonComments pairs the comments that both texts of a hunk have in the same order.
func commonComments(r *Comparer, old, new Side, h Hunk) (pairs []Hunk) {
	o, n := Inside(old.Comments, h.Old), Inside(new.Comments, h.New)
	if len(o) == 0 || len(n) == 0 {
		return nil
	}
	for k, partner := range r.Match(intern(r, nil, old.Text, o), intern(r, nil, new.Text, n)) {
		if partner >= 0 {
			pairs = append(pairs, Hunk{o[k], n[partner]})
		}
	}
	return pairs
}

func touchesOld(hunks, pairs []Hunk) bool {
	comments := make([]span.Span, len(pairs))
	for k, p := range pairs {
		comments[k] = p.Old
	}
	return slices.ContainsFunc(hunks, func(h Hunk) bool { return touched(comments, h.Old) > 0 })
}

// compareAround compares the texts before, between and after pairs of equal ranges within a hunk, each separately.
func compareAround(r *Comparer, old, new Side, m mode, pairs []Hunk, whole Hunk) (hunks []Hunk) {
	part := func(o, n span.Span) {
		m := m
		m.fragment = m.fragment && o.Start == 0 || !span.StartsLine(old.Text, o.Start) || !span.StartsLine(new.Text, n.Start)
		for _, h := range compare(r, old.within(o), new.within(n), m) {
			hunks = append(hunks, Hunk{h.Old.Shift(o.Start), h.New.Shift(n.Start)})
		}
	}
	for _, p := range pairs {
		part(span.New(whole.Old.Start, p.Old.Start), span.New(whole.New.Start, p.New.Start))
		whole.Old.Start, whole.New.Start = p.Old.End, p.New.End
	}
	part(whole.Old, whole.New)
	return hunks
}
