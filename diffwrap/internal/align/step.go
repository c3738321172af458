package align

import "github.com/relayfs/relayfs/diffwrap/internal/span"

// step is a part of a script of lines: old lines and the new lines that face them, by their numbers.
type step struct {
	old, new span.Span
	what     what
}

// what says what becomes of the lines of a step.
type what uint8

const (
	stays    what = iota // lines that are the same on both sides; the breaks before them may be others
	gap                  // lines between those that stay; which of them face one another is not found out yet
	changed              // one line, and another version of it
	replaced             // lines that have nothing to do with one another
	wrapped              // a paragraph whose line breaks changed more than its words
)

// lineScript lists the lines that stay, and the gaps between them. Blank lines beside a gap are steps of their own.
func lineScript(o *page, match []int, newLines int) (out []step) {
	i, j := 0, 0
	upTo := func(k, partner int, w what) {
		if s := (step{span.New(i, k), span.New(j, partner), w}); !s.old.Empty() || !s.new.Empty() {
			out = append(out, s)
		}
		i, j = k, partner
	}
	for k := 0; k < len(match); k++ {
		if match[k] < 0 {
			continue
		}
		upTo(k, match[k], gap)
		end := k + 1
		for end < len(match) && match[end] == match[end-1]+1 {
			end++
		}
		text, behind := k, end
		for text < end && o.blank(text) {
			text++
		}
		for behind > text && o.blank(behind-1) {
			behind--
		}
		for _, border := range []int{text, behind, end} {
			upTo(border, match[k]+border-k, stays)
		}
		k = end - 1
	}
	upTo(len(match), newLines, gap)
	return out
}

func lineStep(i, j int, w what) step { return step{span.New(i, i+1), span.New(j, j+1), w} }

// stretchLength returns how many steps lie before the first lines with text that stay; these are a stretch of their own. Blank
// lines are matched after the others and are given up for a comment.
func stretchLength(o *page, steps []step) (n int) {
	for n < len(steps) && (steps[n].what != stays || o.blank(steps[n].old.Start)) {
		n++
	}
	return max(n, 1)
}

// joined is all lines of a stretch.
func joined(stretch []step) step {
	first, last := stretch[0], stretch[len(stretch)-1]
	return step{span.New(first.old.Start, last.old.End), span.New(first.new.Start, last.new.End), gap}
}
