package align

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// line is one line of a text, as offsets into it. The break before it belongs to it, not the one after it: a run that
// adds or deletes whole lines then starts with a line break, and bullets, headings and table rows stay at the
// start of their lines.
type line struct {
	brk       int  // where the break before the line starts; equal to start for the first line
	span.Span      // the line's text, without breaks
	inFence   bool // whether a code fence is open before the line; not found out for Exact
}

// splitLines splits text[from:to] into lines. Nothing is split inside an atom, such as a comment that spans lines.
func splitLines(text string, from, to int, atoms []span.Span) []line {
	lines := make([]line, 0, 1+strings.Count(text[from:to], "\n"))
	current := line{brk: from, Span: span.Span{Start: from}}
	for i := from; ; {
		at := strings.IndexByte(text[i:to], '\n')
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		if a, inside := atomAround(atoms, at); inside {
			i = a.End
			continue
		}
		current.End = linebreak.Start(text, at, from)
		lines = append(lines, current)
		current = line{brk: current.End, Span: span.Span{Start: at + 1}}
	}
	current.End = to
	return append(lines, current)
}

// findFences says which lines start in a code fence.
func findFences(text string, lines []line) {
	fence := ""
	for s := range strings.Lines(text[:lines[0].Start]) {
		fence = fenceAfter(fence, strings.TrimRight(s, "\r\n"))
	}
	for k := range lines {
		lines[k].inFence = fence != ""
		fence = fenceAfter(fence, lines[k].Of(text))
	}
}

// atomAround returns the atom that off lies in. Atoms are sorted.
func atomAround(atoms []span.Span, off int) (span.Span, bool) {
	k, _ := slices.BinarySearchFunc(atoms, off, func(a span.Span, off int) int { return a.End - off - 1 })
	if k < len(atoms) && atoms[k].Start <= off {
		return atoms[k], true
	}
	return span.Span{}, false
}

// block replaces old lines [i0,i1) by new lines [j0,j1): a block of text at a time, so that a person can take one and
// leave another, and so that no run holds a blank line between two paragraphs.
func (a *aligner) block(i0, i1, j0, j1 int) {
	if i0 == i1 && j0 == j1 {
		return
	}
	old, new := a.gapSpans(i0, i1, j0, j1)
	if a.exact {
		a.change(old, new)
		return
	}
	onTop := a.onTop(i0, i1, j1)
	oldCuts := blockCuts(a.old.Text, a.oldLines[i0:i1], onTop)
	newCuts := blockCuts(a.new.Text, a.newLines[j0:j1], onTop)
	for k := 0; k < len(oldCuts) || k < len(newCuts); k++ {
		o, n := old, new
		if k < len(oldCuts) {
			o.End = oldCuts[k]
		}
		if k < len(newCuts) {
			n.End = newCuts[k]
		}
		a.change(o, n)
		old.Start, new.Start = o.End, n.End
	}
	a.change(old, new)
}

// blockCuts returns where the blocks of lines start, the first left out. Blocks are parted by blank lines outside code
// fences; lines that start in one are not parted, since what is in it, and the next one if they open that, would be. The blank lines go with the block below them, unless the lines end with one (or stay on top of others): then with
// the block above.
func blockCuts(text string, lines []line, onTop bool) []int {
	if len(lines) > 0 && lines[0].inFence {
		return nil
	}
	var cuts []int
	blankAbove := onTop || len(lines) > 0 && markdown.IsBlank(lines[len(lines)-1].Of(text))
	var fence string
	seen, blank := false, false // text in this block; a blank line since
	for _, l := range lines {
		s := l.Of(text)
		fence = fenceAfter(fence, s)
		switch {
		case markdown.IsBlank(s) && fence == "":
			if seen && !blank && !blankAbove {
				cuts = append(cuts, l.brk)
				seen = false
			}
			blank = true
			continue
		case seen && blank && blankAbove:
			cut := l.brk
			if onTop {
				cut = l.Start // there is no break before it
			}
			cuts = append(cuts, cut)
		}
		seen, blank = true, false
	}
	return cuts
}

// fenceAfter returns the code fence that is open after a line, given the one before; "" for none.
func fenceAfter(fence, s string) string {
	n := markdown.Skip(s, 0, " \t>")
	length := markdown.FenceLength(s[n:])
	switch {
	case length == 0:
		return fence
	case fence == "":
		return s[n : n+length]
	case s[n] == fence[0] && length >= len(fence):
		return ""
	}
	return fence
}
