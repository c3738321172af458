package marking

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// keepForeign splits the hunks around proposed text that they must not change: text of other authors, and of the
// writer's own suggestions from earlier sessions (p.Fixed). If the new text lacks such a text, keepForeign returns the
// text or, if it belongs to a suggestion in p.Fixed, removes the suggestion from p.Fixed.
func (p *Patch) keepForeign(hunks []align.Hunk) ([]align.Hunk, *Piece) {
	out := make([]align.Hunk, 0, len(hunks))
	end := p.OldBody // end of the previous foreign text
	for k := range p.pieces {
		x := &p.pieces[k]
		if x.role != roleForeignText {
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
			end = x.View.End
			continue
		}
		room := span.New(end, len(p.Old))
		if len(out) > 0 {
			room.Start = max(room.Start, out[len(out)-1].Old.End)
		}
		if n < len(hunks) {
			room.End = hunks[n].Old.Start
		}
		before, after, ok := p.splitAround(hunks[0], hunks[n-1], x.View, room)
		switch {
		case ok:
			end = x.View.End
			hunks = append([]align.Hunk{after}, hunks[n:]...)
			out = append(out, before)
		case p.isFixed(x):
			delete(p.Fixed, p.Owners[x.cell.Start].Suggestion)
		default:
			return nil, x
		}
	}
	return append(out, hunks...), nil
}

func (p *Patch) isFixed(x *Piece) bool {
	o := p.Owners[x.cell.Start]
	return o.Access == critic.Earlier && p.Fixed[o.Suggestion]
}

// releaseChanged removes from p.Fixed the suggestions that the hunks change. The hunks change a suggestion if they join
// a word to its text (joinsWord), or type its deleted text again (retypes).
func (p *Patch) releaseChanged(hunks []align.Hunk) {
	for k := range p.pieces {
		if x := &p.pieces[k]; p.isFixed(x) && (p.joinsWord(x, hunks) || p.retypes(x, hunks)) {
			delete(p.Fixed, p.Owners[x.cell.Start].Suggestion)
		}
	}
}

// joinsWord reports whether hunks join a word to the proposed text of a piece.
func (p *Patch) joinsWord(x *Piece, hunks []align.Hunk) bool {
	at := p.newOffset(x.View, hunks)
	if x.View.Empty() || at < 0 {
		return false
	}
	text, end := x.View.Of(p.Old), at+x.View.Len()
	return markdown.JoinsWord(p.New[:at], text) && !markdown.JoinsWord(p.Old[:x.View.Start], text) ||
		markdown.JoinsWord(text, p.New[end:]) && !markdown.JoinsWord(text, p.Old[x.View.End:])
}

// retypes reports whether a hunk next to a piece types a word that the piece deletes, or just its text if that has no
// word.
func (p *Patch) retypes(x *Piece, hunks []align.Hunk) bool {
	if x.cell.Deleted().Empty() {
		return false
	}
	notInWord := func(r rune) bool { return !markdown.InWord(r) }
	near := span.New(len(strings.TrimRightFunc(p.Old[:x.View.Start], notInWord)), len(p.Old)-len(strings.TrimLeftFunc(p.Old[x.View.End:], notInWord)))
	text := x.cell.Deleted().Of(p.Doc.Raw)
	deleted := strings.FieldsFunc(text, notInWord)
	for _, h := range touching(hunks, near) {
		typed := h.New.Of(p.New)
		if len(deleted) == 0 && typed == text ||
			slices.ContainsFunc(strings.FieldsFunc(typed, notInWord), func(w string) bool { return slices.Contains(deleted, w) }) {
			return true
		}
	}
	return false
}

func touching(hunks []align.Hunk, view span.Span) []align.Hunk {
	from, _ := slices.BinarySearchFunc(hunks, view.Start, func(h align.Hunk, off int) int { return cmp.Compare(h.Old.End, off) })
	to := from
	for to < len(hunks) && hunks[to].Old.Start <= view.End {
		to++
	}
	return hunks[from:to]
}

func overlaps(old, x span.Span) bool {
	return old.Start < x.End && old.End > x.Start || x.Empty() && old.Start < x.Start && old.End > x.Start
}

// splitAround joins the hunks from first to last and splits the result around the text in the range x of the accepted
// view. It splits at the nearest occurrence of that text in the new text. Unchanged text next to the hunks, within
// room, may be part of the occurrence.
func (p *Patch) splitAround(first, last align.Hunk, x, room span.Span) (before, after align.Hunk, ok bool) {
	h := first.Union(last)
	h = h.Grow(max(0, h.Old.Start-x.Start), max(0, x.End-h.Old.End))
	around := [2]int{}
	at := nearest(h.New.Of(p.New), x.Of(p.Old), x.Start-h.Old.Start)
	if at < 0 {
		around = [2]int{max(0, min(x.Len(), h.Old.Start-room.Start)), max(0, min(x.Len(), room.End-h.Old.End))}
		h = h.Grow(around[0], around[1])
		at = nearest(h.New.Of(p.New), x.Of(p.Old), x.Start-h.Old.Start)
	}
	if at < 0 {
		return align.Hunk{}, align.Hunk{}, false
	}
	at += h.New.Start
	if current := span.New(at, at+x.Len()); slices.ContainsFunc(p.newNotes, func(n span.Span) bool { return n.Start < current.End && current.Start < n.End && n != current }) {
		return align.Hunk{}, align.Hunk{}, false // the occurrence is part of a comment
	}
	before = align.Hunk{Old: span.New(h.Old.Start, x.Start), New: span.New(h.New.Start, at)}
	after = align.Hunk{Old: span.New(x.End, h.Old.End), New: span.New(at+x.Len(), h.New.End)}
	return before.Grow(-min(around[0], before.Old.Len(), before.New.Len()), 0), after.Grow(0, -min(around[1], after.Old.Len(), after.New.Len())), true
}

// nearest returns the offset of the occurrence of part in s that is nearest to the offset want, or -1. For an empty
// part it returns 0.
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
