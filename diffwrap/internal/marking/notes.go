package marking

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// notes finds the comments in the new text of a region. With literal set, only those count that the region has already.
func (e *emitter) notes(text string, old *original) []span.Span {
	notes := e.comments(text)
	if !e.literal {
		return notes
	}
	known := make(map[string]bool)
	for _, n := range old.notes {
		known[n.Of(old.text)] = true
	}
	return slices.DeleteFunc(notes, func(n span.Span) bool { return !known[n.Of(text)] })
}

// anchors pairs the comments of a region that the writer did not touch with where they are in the region's new text.
func (e *emitter) anchors(o *original, r region, notes []span.Span) []align.Hunk {
	var pairs []align.Hunk
	for _, p := range o.parts {
		if p.role != note {
			continue
		}
		at := e.newOffset(span.New(p.view, p.view+p.size)) - r.new.Start
		k, ok := slices.BinarySearchFunc(notes, at, func(n span.Span, off int) int { return n.Start - off })
		if ok && notes[k].Len() == p.size {
			pairs = append(pairs, align.Hunk{Old: span.New(p.at, p.at+p.size), New: notes[k]})
		}
	}
	return pairs
}

// newOffset returns where a piece of the accepted view is in the new text, -1 if the writer changed it.
func (e *emitter) newOffset(view span.Span) int {
	k, _ := slices.BinarySearchFunc(e.hunks, view.Start, func(c align.Hunk, off int) int { return cmp.Or(cmp.Compare(c.Old.End, off), -1) })
	switch {
	case k < len(e.hunks) && e.hunks[k].Old.Start < view.End:
		return -1
	case k == 0:
		return view.Start - e.OldBody + e.NewBody
	}
	return view.Start - e.hunks[k-1].Old.End + e.hunks[k-1].New.End
}
