package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// stepHunks appends the hunks of a step. It extends the last hunk if a renumbered list continues.
func stepHunks(r *Comparer, hunks []Hunk, o, n *lineText, s step) []Hunk {
	before := len(hunks)
	switch s.kind {
	case stepSame:
		for k := range s.old.Len() {
			hunks = breakHunk(hunks, o, n, s.old.Start+k, s.new.Start+k)
		}
	case stepChanged:
		hunks = lineHunks(r, hunks, o, n, s.old.Start, s.new.Start)
	case stepRewrapped:
		hunks = wordHunks(r, hunks, o, n, wholeLines(o, n, s), 0)
	case stepReplaced:
		hunks = blockHunks(hunks, o, n, s)
	}
	if !o.exact {
		return hunks
	}
	exact := hunks[:before]
	for _, h := range hunks[before:] {
		exact = add(exact, o.Side, n.Side, trimClusters(o.Text, n.Text, h))
	}
	return exact
}

// add appends a hunk that changes its text. Equal texts are different tokens if only one side has a comment there.
func add(hunks []Hunk, old, new Side, h Hunk) []Hunk {
	if h.Old.Of(old.Text) == h.New.Of(new.Text) {
		return hunks
	}
	return append(hunks, h)
}

func breakHunk(hunks []Hunk, o, n *lineText, i, j int) []Hunk {
	return add(hunks, o.Side, n.Side, breaks(o, n, i, j))
}

func lineHunks(r *Comparer, hunks []Hunk, o, n *lineText, i, j int) []Hunk {
	h := Hunk{o.lines[i].Span, n.lines[j].Span}
	if o.exact {
		return wordHunks(r, breakHunk(hunks, o, n, i, j), o, n, h, 0)
	}
	oldMarker, newMarker := o.marker(i), n.marker(j)
	if oldMarker.Of(o.Text) != newMarker.Of(n.Text) {
		return wholeLineHunk(hunks, o, n, i, j)
	}
	h.Old.Start, h.New.Start = oldMarker.End, newMarker.End
	oldCells, newCells := cells(o.Side, h.Old), cells(n.Side, h.New)
	if len(oldCells) != len(newCells) {
		if block.IsRow(h.Old.Of(o.Text)) || block.IsRow(h.New.Of(n.Text)) {
			return wholeLineHunk(hunks, o, n, i, j)
		}
		oldCells, newCells = []span.Span{h.Old}, []span.Span{h.New}
	}
	hunks = breakHunk(hunks, o, n, i, j)
	for k := range oldCells {
		hunks = wordHunks(r, hunks, o, n, Hunk{oldCells[k], newCells[k]}, lineSurvival)
	}
	return hunks
}

// wholeLineHunk appends a hunk that replaces a line and the break before it.
func wholeLineHunk(hunks []Hunk, o, n *lineText, i, j int) []Hunk {
	b := breaks(o, n, i, j)
	h := Hunk{span.New(b.Old.Start, o.lines[i].End), span.New(b.New.Start, n.lines[j].End)}
	if k := len(hunks) - 1; k >= 0 && i > 0 && j > 0 && renumbers(o, n, i, j) && renumbers(o, n, i-1, j-1) &&
		hunks[k].Old.End == h.Old.Start && hunks[k].New.End == h.New.Start {
		hunks[k] = hunks[k].Union(h) // the lines belong to one renumbered list
		return hunks
	}
	return add(hunks, o.Side, n.Side, h)
}

// renumbers reports whether two lines are the same list item with different numbers.
func renumbers(o, n *lineText, i, j int) bool {
	old, oldRest := cutNumber(o.text(i))
	new, newRest := cutNumber(n.text(j))
	return old != "" && new != "" && old != new && oldRest == newRest
}

func cutNumber(s string) (number, rest string) {
	indent := span.Skip(s, 0, " \t>")
	digits := span.Skip(s, indent, "0123456789")
	return s[indent:digits], s[:indent] + s[digits:]
}

// cells splits a line at its pipes, so that no change in a table row crosses a pipe. A line without pipes is one cell.
func cells(s Side, line span.Span) []span.Span {
	if strings.IndexByte(line.Of(s.Text), '|') < 0 {
		return []span.Span{line}
	}
	var out []span.Span
	start := line.Start
	for t := range markdown.Tokens(s.Text, line, s.Comments) {
		if t.Of(s.Text) == "|" {
			out = append(out, span.New(start, t.Start))
			start = t.End
		}
	}
	return append(out, span.New(start, line.End))
}

// blockHunks appends the replacement of lines, one block of text at a time. So a user can accept some blocks and reject
// others, and no run contains a blank line between two paragraphs.
func blockHunks(hunks []Hunk, o, n *lineText, s step) []Hunk {
	if s.old.Empty() && s.new.Empty() {
		return hunks
	}
	whole := wholeLines(o, n, s)
	if o.exact {
		return add(hunks, o.Side, n.Side, whole)
	}
	top := onTop(o, n, s)
	oldCuts, newCuts := blockCuts(o, s.old, top), blockCuts(n, s.new, top)
	for k := 0; k < len(oldCuts) || k < len(newCuts); k++ {
		h := whole
		if k < len(oldCuts) {
			h.Old.End = oldCuts[k]
		}
		if k < len(newCuts) {
			h.New.End = newCuts[k]
		}
		hunks = add(hunks, o.Side, n.Side, h)
		whole.Old.Start, whole.New.Start = h.Old.End, h.New.End
	}
	return add(hunks, o.Side, n.Side, whole)
}

// blockCuts returns the starts of the blocks of lines, except the first one. Blank lines outside of fences separate
// blocks. Lines that start in a fence are not split, because a cut would fall inside that fence or inside a later one.
// Blank lines belong to the block after them. But if the lines end with a blank one, or onTop is set, blank lines
// belong to the block before them.
func blockCuts(p *lineText, lines span.Span, onTop bool) []int {
	if lines.Empty() || p.lines[lines.Start].inFence {
		return nil
	}
	var cuts []int
	blankAbove := onTop || p.blank(lines.End-1)
	seen, blank := false, false // seen: this block has text; blank: a blank line follows it
	for i := lines.Start; i < lines.End; i++ {
		l := p.lines[i]
		switch {
		case p.blank(i) && !l.inFence:
			if seen && !blank && !blankAbove {
				cuts = append(cuts, l.breakOff)
				seen = false
			}
			blank = true
			continue
		case seen && blank && blankAbove:
			cut := l.breakOff
			if onTop {
				cut = l.Start // the first line has no break before it
			}
			cuts = append(cuts, cut)
		}
		seen, blank = true, false
	}
	return cuts
}
