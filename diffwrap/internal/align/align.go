// Package align compares two texts: lines first, then words, then characters. It treats a comment as one token, and
// other CriticMarkup as text.
//
// A comparison is a pipeline. Each stage is a function of the earlier results:
//
//	differing     two texts     → the range between common start and end         trim.go
//	newLineText   a text        → its lines                                      line.go
//	matchLines    two texts     → equal lines                                    match.go
//	lineScript    a matching    → unchanged lines, and gaps between them         step.go
//	pairGap       a gap         → lines changed, added and deleted               pair.go
//	stepHunks     lines         → hunks of markers, cells, blocks and words      change.go
//	tokenScript   two pieces    → changes as ranges of tokens                    words.go
//	MergeRules    a script      → a readable script                              fold.go
//	joinShifted   hunks         → hunks that keep the end of a line              align.go
//
// The stages share a Comparer (match.go), which holds only reusable memory and the IDs of texts.
package align

import (
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Exact finds a small change. It does not make the change readable.
func (r *Comparer) Exact(old, new Side) []Hunk { return compareExact(r, old, new, mode{exact: true}) }

func compareExact(r *Comparer, old, new Side, m mode) []Hunk {
	if (old.Text == "") != (new.Text == "") {
		return []Hunk{{span.New(0, len(old.Text)), span.New(0, len(new.Text))}}
	}
	return compare(r, old, new, m)
}

// Readable finds a change that is easy to read: it prefers one readable change to several unreadable ones (see pair.go,
// change.go and fold.go). It leaves the given pairs of equal ranges unchanged. fragment means that the texts do not
// begin at a line start, so that their first line has no marker.
func (r *Comparer) Readable(old, new Side, fragment bool, pairs []Hunk) []Hunk {
	m := mode{fragment: fragment}
	hunks := compare(r, old, new, m)
	if !touchesOld(hunks, pairs) {
		return hunks
	}
	return compareAround(r, old, new, m, pairs, Hunk{span.New(0, len(old.Text)), span.New(0, len(new.Text))})
}

// joinShifted joins two adjacent hunks if one of them deletes text that the other one adds again at its end, as if the end
// of a line had come to the line that was added after it. That text stays.
func joinShifted(old, new Side, hunks []Hunk) []Hunk {
	out := hunks[:0]
	for _, h := range hunks {
		if k := len(out) - 1; k >= 0 && out[k].Old.End == h.Old.Start && out[k].New.End == h.New.Start {
			both := out[k].Union(h)
			stays := min(both.Old.Len(), both.New.Len())
			rest := both.Grow(0, -stays)
			if old.Text[rest.Old.End:both.Old.End] == new.Text[rest.New.End:both.New.End] && stays > 0 &&
				isBorder(old, rest.Old.End) && isBorder(new, rest.New.End) {
				out = add(out[:k], old, new, rest)
				continue
			}
		}
		out = append(out, h)
	}
	return out
}

// isBorder reports whether no word, line break or comment is on both sides of an offset.
func isBorder(s Side, at int) bool {
	return !markdown.JoinsWord(s.Text[:at], s.Text[at:]) && borderBefore(s.Text, at) == at && !InComment(s.Comments, at)
}

// compare runs the stages.
func compare(r *Comparer, old, new Side, m mode) (hunks []Hunk) {
	if old.Text == new.Text {
		return nil
	}
	middle := differing(old, new)
	m.fragment = m.fragment && middle.Old.Start == 0
	o, n := newLineText(old, middle.Old, m), newLineText(new, middle.New, m)
	steps := []step{{o.all(), n.all(), stepReplaced}}
	if old.Text != "" && new.Text != "" {
		steps = lineScript(o, matchLines(r, o, n), len(n.lines))
	}
	var changes []step
	for _, s := range steps {
		changes = pairGap(r, changes, o, n, s)
	}
	for _, s := range changes {
		hunks = stepHunks(r, hunks, o, n, s)
	}
	if !m.exact {
		hunks = joinShifted(old, new, hunks)
	}
	// A line break that is added before the rest of a line belongs to the change directly behind it.
	for m.fragment && len(hunks) > 1 && hunks[0].Old.End == 0 && hunks[1].Old.Start == 0 {
		hunks[1] = hunks[0].Union(hunks[1])
		hunks = hunks[1:]
	}
	return hunks
}
