// Package align compares two texts: lines before words, and words before characters. Comments are whole to it; other
// CriticMarkup means nothing here.
//
// A comparison is a pipeline. Each stage is a function of what the ones before it found, and none changes that:
//
//	differing    two texts     → what lies between their common start and end   trim.go
//	newPage      a text        → its lines                                      line.go
//	matchLines   two pages     → which lines are equal                          match.go
//	lineScript   that          → lines that stay, and gaps between them         step.go
//	pairGap      a gap         → lines that changed, came and went              pair.go
//	stepHunks    these         → hunks: of markers, cells, blocks and words     change.go
//	tokenScript  two pieces    → changes in numbers of tokens                   words.go
//	Folds        such a script → a script that can be read                      fold.go
//	keepComments hunks         → hunks that leave alone what comments stay      comment.go
//
// The stages share a room (match.go), which holds nothing but memory and the numbers of what they have read.
package align

import "github.com/relayfs/relayfs/diffwrap/internal/span"

// Exact prefers the smallest change.
func Exact(old, new Side) []Hunk {
	return compare(&room{}, old, new, mode{exact: true})
}

// Readable follows the rules of readability (pair.go, change.go, fold.go), which prefer one change that can be read to several
// that cannot, and keeps the given pairs of comments wherever they were moved. A fragment does not start at the start of a line,
// so that its first line has no marker.
func Readable(old, new Side, fragment bool, pairs []Hunk) []Hunk {
	r, m := &room{}, mode{fragment: fragment}
	hunks := compare(r, old, new, m)
	if !touchesOld(hunks, pairs) {
		return hunks
	}
	return compareAround(r, old, new, m, pairs, Hunk{span.New(0, len(old.Text)), span.New(0, len(new.Text))})
}

// compare runs the stages. Between two lines with text that stay lies a stretch; no hunk depends on two of them.
func compare(r *room, old, new Side, m mode) (hunks []Hunk) {
	if old.Text == new.Text {
		return nil
	}
	middle := differing(old, new)
	m.fragment = m.fragment && middle.Old.Start == 0
	o, n := newPage(old, middle.Old, m), newPage(new, middle.New, m)
	steps := []step{{o.all(), n.all(), replaced}}
	if old.Text != "" && new.Text != "" {
		steps = lineScript(o, matchLines(r, o, n), len(n.lines))
	}
	var changes []step
	for len(steps) > 0 {
		stretch := steps[:stretchLength(o, steps)]
		steps = steps[len(stretch):]
		changes = changes[:0]
		for _, s := range stretch {
			changes = pairGap(r, changes, o, n, s)
		}
		var found []Hunk
		for _, s := range changes {
			found = stepHunks(r, found, o, n, s)
		}
		hunks = append(hunks, keepComments(r, found, o, n, joined(stretch))...)
	}
	return hunks
}
