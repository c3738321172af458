package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

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
