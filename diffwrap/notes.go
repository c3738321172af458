package diffwrap

import (
	"cmp"
	"slices"
)

// regionNotes is what matters of the comments when a region is marked anew.
type regionNotes struct {
	new   []span         // the comments in the new text
	again map[*cell]bool // the resolved comments of the region that are open there again
}

// notes compares the comments of a region with those of its new text. With literal set, only those in the new text count
// that the region has, too.
func (e *emitter) notes(r region, text string) regionNotes {
	n := regionNotes{new: e.comments(text)}
	ids := make(map[string]int)
	var cells []*cell
	var old []int
	for k := r.from.piece; k < len(e.pieces) && e.pieces[k].start < r.to.off; k++ {
		if x := &e.pieces[k]; x.role == note && e.openForm(x.cell) != "" {
			cells = append(cells, x.cell)
			old = append(old, number(ids, e.openForm(x.cell)))
		}
	}
	if e.literal {
		n.new = slices.DeleteFunc(n.new, func(s span) bool {
			_, known := ids[s.of(text)]
			return !known
		})
	}
	new := make([]int, len(n.new))
	for k, s := range n.new {
		new[k] = number(ids, s.of(text))
	}
	n.again = reopened(cells, old, new)
	return n
}

// number interns a string.
func number(ids map[string]int, s string) int {
	id, ok := ids[s]
	if !ok {
		id = len(ids)
		ids[s] = id
	}
	return id
}

// reopened returns the resolved comments, among the old ones, that are open in the new ones. An open comment is never given
// up for a resolved one: the open ones are matched first, and the resolved ones between them.
func reopened(cells []*cell, old, new []int) map[*cell]bool {
	open, resolved := []int{}, []int{}
	for k, c := range cells {
		if c.resolved {
			resolved = append(resolved, k)
		} else {
			open = append(open, k)
		}
	}
	if len(resolved) == 0 {
		return nil
	}
	again := make(map[*cell]bool)
	from := 0
	for k, to := range append(commonSubsequence(pick(old, open), new), len(new)) {
		if to < 0 {
			continue
		}
		between := resolved
		if k < len(open) {
			n, _ := slices.BinarySearch(resolved, open[k])
			between, resolved = resolved[:n], resolved[n:]
		}
		for g, partner := range commonSubsequence(pick(old, between), new[from:to]) {
			if partner >= 0 {
				again[cells[between[g]]] = true
			}
		}
		from = to + 1
	}
	return again
}

// anchors pairs the comments of a region that the writer did not touch with where they are in the region's new text.
func (e *emitter) anchors(o *original, r region, notes []span) []hunk {
	var pairs []hunk
	for _, p := range o.parts {
		if p.role != note || p.cell.resolved {
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
