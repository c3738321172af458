package diffwrap

import (
	"cmp"
	"slices"
)

// notes finds the comments in the new text of a region. With literal set, only those count that the region has already.
func (e *emitter) notes(text string, old *original) []span {
	notes := e.comments(text)
	if !e.literal {
		return notes
	}
	known := make(map[string]bool)
	for _, n := range old.notes {
		known[n.of(old.text)] = true
	}
	return slices.DeleteFunc(notes, func(n span) bool { return !known[n.of(text)] })
}

// anchors pairs the comments of a region that the writer did not touch with where they are in the region's new text.
func (e *emitter) anchors(o *original, r region, notes []span) []hunk {
	var pairs []hunk
	for _, p := range o.parts {
		if p.role != note {
			continue
		}
		at := e.newOffset(span{p.view, p.view + p.size}) - r.new.start
		k, ok := slices.BinarySearchFunc(notes, at, func(n span, off int) int { return n.start - off })
		if ok && notes[k].len() == p.size {
			pairs = append(pairs, hunk{span{p.at, p.at + p.size}, notes[k]})
		}
	}
	return pairs
}

// newOffset returns where a piece of the accepted view is in the new text, -1 if the writer changed it.
func (e *emitter) newOffset(view span) int {
	k, _ := slices.BinarySearchFunc(e.changes, view.start, func(c hunk, off int) int { return cmp.Or(cmp.Compare(c.old.end, off), -1) })
	switch {
	case k < len(e.changes) && e.changes[k].old.start < view.end:
		return -1
	case k == 0:
		return view.start - e.matter.oldEnd + e.matter.newEnd
	}
	return view.start - e.changes[k-1].old.end + e.changes[k-1].new.end
}
