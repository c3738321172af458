package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// line is one line of a text, as offsets into it. A line owns the break before it, not the one after it: a run that
// adds or deletes whole lines then starts with a line break, and bullets, headings and table rows stay at the
// start of their lines.
type line struct {
	brk       int // where the break before the line starts; equal to start for the first line
	span.Span     // the line's text, without breaks
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

// atomAround returns the atom that off lies in. Atoms are sorted.
func atomAround(atoms []span.Span, off int) (span.Span, bool) {
	lo, hi := 0, len(atoms)
	for lo < hi {
		if mid := (lo + hi) / 2; atoms[mid].End <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(atoms) && atoms[lo].Start <= off {
		return atoms[lo], true
	}
	return span.Span{}, false
}
