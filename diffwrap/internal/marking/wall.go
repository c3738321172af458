package marking

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// keepWalls takes text that another author proposed out of the hunks: where a hunk covers such a text and the new
// text still has it, the hunk is split around it; where it has not, that text is returned.
func (p *Patch) keepWalls(hunks []align.Hunk) ([]align.Hunk, *Piece) {
	out := make([]align.Hunk, 0, len(hunks))
	for k := range p.pieces {
		x := &p.pieces[k]
		if x.role != wall {
			continue
		}
		for len(hunks) > 0 && hunks[0].Old.End <= x.View.Start {
			out, hunks = append(out, hunks[0]), hunks[1:]
		}
		n := 0
		for n < len(hunks) && overlaps(hunks[n].Old, x.View) {
			n++
		}
		if n == 0 {
			continue
		}
		before, after, ok := p.splitAround(hunks[0], hunks[n-1], x.View)
		if !ok {
			return nil, x
		}
		hunks = append([]align.Hunk{after}, hunks[n:]...)
		out = append(out, before)
	}
	return append(out, hunks...), nil
}

func overlaps(old, x span.Span) bool {
	return old.Start < x.End && old.End > x.Start || x.Empty() && old.Start < x.Start && old.End > x.Start
}

// splitAround joins the hunks from first to last and splits the result around the text at x of the accepted view, at
// the occurrence of it in the new text that lies nearest.
func (p *Patch) splitAround(first, last align.Hunk, x span.Span) (before, after align.Hunk, ok bool) {
	old := span.New(min(first.Old.Start, x.Start), max(last.Old.End, x.End))
	new := span.New(first.New.Start-(first.Old.Start-old.Start), last.New.End+(old.End-last.Old.End))
	at := nearest(new.Of(p.New), x.Of(p.Old), x.Start-old.Start)
	if at < 0 {
		return align.Hunk{}, align.Hunk{}, false
	}
	at += new.Start
	before = align.Hunk{Old: span.New(old.Start, x.Start), New: span.New(new.Start, at)}
	after = align.Hunk{Old: span.New(x.End, old.End), New: span.New(at+x.Len(), new.End)}
	return before, after, true
}

// nearest returns the offset of the occurrence of part in s that is nearest to want, -1 when there is none.
func nearest(s, part string, want int) int {
	if part == "" {
		return 0
	}
	best := strings.LastIndex(s[:min(len(s), want+len(part))], part)
	from := min(len(s), want+1)
	if after := strings.Index(s[from:], part); after >= 0 && (best < 0 || from+after-want < want-best) {
		return from + after
	}
	return best
}
