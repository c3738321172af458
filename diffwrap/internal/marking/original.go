package marking

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// original is the original text of a region: what stays and what is deleted, with the comments in it, which a change
// may take out or put back. What the writer itself adds is not in it, so that amending that leaves no trace.
type original struct {
	text  string
	notes []span.Span // the comments in text
	parts []part
	next  int // the first part that was not visited to its end
}

// part is a stretch of the original text, or a mark without text in it. Its View is what that stretch shows.
type part struct {
	Piece
	at, size int // in text; the size of a mark without text is 0
}

// original collects the original text of a region, with its comments.
func (p *Patch) original(from, to place) *original {
	o := &original{}
	var text strings.Builder
	for k := from.piece; k < len(p.pieces) && p.pieces[k].Start < to.off; k++ {
		x := &p.pieces[k]
		y := part{Piece: *x, at: text.Len()}
		switch x.role {
		case own:
			continue
		case note, kept, dropped:
			y.Start, y.End = max(y.Start, from.off), min(y.End, to.off)
			if y.Empty() {
				continue
			}
			if x.role == kept {
				y.View = y.Span.Shift(x.View.Start - x.Start)
			}
			text.WriteString(y.Of(p.Doc.Raw))
		}
		y.size = text.Len() - y.at
		switch {
		case len(o.parts) > 0 && y.inComment(&o.parts[len(o.parts)-1]):
			o.notes[len(o.notes)-1].End = text.Len()
		case y.size > 0 && (x.role == note || x.cell.Comment > 0):
			o.notes = append(o.notes, span.New(y.at, text.Len()))
		}
		o.parts = append(o.parts, y)
	}
	o.text = text.String()
	return o
}

// inComment reports whether a part goes on with the deleted comment that another one is of.
func (p *part) inComment(before *part) bool {
	return p.role == dropped && before.role == dropped && p.cell.Comment > 0 && p.cell.Comment == before.cell.Comment
}

// visit calls f for each part, or piece of one, in s. Spans must be visited in order. A part without text belongs to
// the span that starts at or before it, so that it stays after what was changed directly before it.
func (o *original) visit(s span.Span, f func(part)) {
	for o.next < len(o.parts) {
		p := o.parts[o.next]
		end := p.at + p.size
		switch {
		case p.at >= s.End:
			return
		case p.size == 0:
			f(p)
		case max(p.at, s.Start) < min(end, s.End):
			first, last := max(p.at, s.Start), min(end, s.End)
			p.Span = span.New(p.Start+first-p.at, p.Start+last-p.at)
			f(p)
		}
		if end > s.End {
			return
		}
		o.next++
	}
}

// notes finds the comments in the new text of a region. With Literal set, only those count that the region has already.
func (e *emitter) notes(text string, old *original) []span.Span {
	notes := e.comments(text)
	if !e.Literal {
		return notes
	}
	known := make(map[string]bool)
	for _, n := range old.notes {
		known[n.Of(old.text)] = true
	}
	return slices.DeleteFunc(notes, func(n span.Span) bool { return !known[n.Of(text)] })
}

// anchors pairs what the writer did not touch and must stay, with where it is in the region's new text: the comments, and what
// a person typed into a word that the writer is changing.
func (e *emitter) anchors(r region, notes []span.Span) []align.Hunk {
	var pairs []align.Hunk
	for k := range r.old.parts {
		p := &r.old.parts[k]
		for _, s := range e.typed(r.old, p) {
			view := s.Shift(p.View.Start - p.at)
			new := s.Shift(e.newOffset(view) - r.new.Start - s.Start)
			if new.Start < 0 || p.role == note && !slices.Contains(align.Inside(notes, new), new) {
				continue
			}
			pairs = append(pairs, align.Hunk{Old: s, New: new})
		}
	}
	return pairs
}

// typed lists the stretches of a part that nobody but another person can have put where they are: a comment, and letters beside a
// mark that goes on with the same word, since marks of a writer's words never cut one.
func (e *emitter) typed(o *original, p *part) []span.Span {
	s := span.New(p.at, p.at+p.size)
	switch {
	case p.role == note:
		return []span.Span{s}
	case p.role != kept:
		return nil
	}
	var out []span.Span
	lastOf := func(s string) bool { r, _ := utf8.DecodeLastRuneInString(s); return markdown.InWord(r) }
	firstOf := func(s string) bool { r, _ := utf8.DecodeRuneInString(s); return markdown.InWord(r) }
	if text := s.Of(o.text); lastOf(o.text[:s.Start]) || lastOf(e.Old[:p.View.Start]) {
		rest := s.End - len(strings.TrimLeftFunc(text, markdown.InWord))
		out = append(out, span.New(s.Start, rest))
		s.Start = rest
	}
	if text := s.Of(o.text); firstOf(o.text[s.End:]) || firstOf(e.Old[p.View.End:]) {
		out = append(out, span.New(s.Start+len(strings.TrimRightFunc(text, markdown.InWord)), s.End))
	}
	return slices.DeleteFunc(out, span.Span.Empty)
}

// newOffset returns where a piece of the accepted view is in the new text, -1 if the writer changed it.
func (e *emitter) newOffset(view span.Span) int {
	k, _ := slices.BinarySearchFunc(e.hunks, view.Start, func(c align.Hunk, off int) int { return cmp.Or(cmp.Compare(c.Old.End, off), -1) })
	switch {
	case k < len(e.hunks) && e.hunks[k].Old.Start < view.End:
		return -1
	case k == 0:
		return view.Start - e.OldBody + e.NewBody
	}
	return view.Start - e.hunks[k-1].Old.End + e.hunks[k-1].New.End
}
