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

// original is the original text of a region: unchanged and deleted text, and comments, which a change may delete or
// restore. It excludes the writer's own additions, so that a change of these additions leaves no trace.
type original struct {
	text  string
	notes []span.Span // comments in text
	parts []part
}

// part is a range of the original text, or a mark that has no text in the original text. View is its range in the
// accepted view.
type part struct {
	Piece
	at, size int // offset and length in text; size is 0 for a mark without text
}

func (p part) within(raw span.Span) part {
	if p.role == roleOriginal {
		p.View = raw.Shift(p.View.Start - p.Start)
	}
	p.Span = raw
	return p
}

func (p *Patch) original(from, to place) *original {
	o := &original{}
	var text strings.Builder
	for k := from.piece; k < len(p.pieces) && p.pieces[k].Start < to.off; k++ {
		x := &p.pieces[k]
		y := part{Piece: *x, at: text.Len()}
		switch x.role {
		case roleOwn:
			continue
		case roleForeignComment, roleOriginal, roleDropped:
			if y = y.within(span.New(max(y.Start, from.off), min(y.End, to.off))); y.Empty() {
				continue
			}
			text.WriteString(y.Of(p.Doc.Raw))
		}
		y.size = text.Len() - y.at
		switch {
		case len(o.parts) > 0 && y.inComment(&o.parts[len(o.parts)-1]):
			o.notes[len(o.notes)-1].End = text.Len()
		case y.size > 0 && (x.role == roleForeignComment || x.cell.Comment > 0):
			o.notes = append(o.notes, span.New(y.at, text.Len()))
		}
		o.parts = append(o.parts, y)
	}
	o.text = text.String()
	return o
}

// stretches returns the ranges of the text between the marks without text in it.
func (o *original) stretches() (list []span.Span) {
	start := 0
	for _, x := range o.parts {
		if x.size == 0 {
			list = append(list, span.New(start, x.at))
			start = x.at
		}
	}
	return append(list, span.New(start, len(o.text)))
}

// inComment reports whether p continues the deleted comment of the previous part.
func (p *part) inComment(before *part) bool {
	return p.role == roleDropped && before.role == roleDropped && p.cell.Comment > 0 && p.cell.Comment == before.cell.Comment
}

// anchors pairs each text that must stay with its place in the region's new text. Such texts are comments, and text
// that a user typed into a word that the writer is changing. anchors considers only texts that the writer did not
// touch.
func (p *Patch) anchors(r region, notes []span.Span, changes []align.Hunk) []align.Hunk {
	var pairs []align.Hunk
	for k := range r.old.parts {
		x := &r.old.parts[k]
		for _, s := range p.typed(r.old, x) {
			view := s.Shift(x.View.Start - x.at)
			new := s.Shift(p.newOffset(view, changes) - r.new.Start - s.Start)
			if new.Start < 0 || x.role == roleForeignComment && !slices.Contains(align.Inside(notes, new), new) {
				continue
			}
			pairs = append(pairs, align.Hunk{Old: s, New: new})
		}
	}
	return pairs
}

// typed lists the ranges of a part that only another author can have put there: a comment, and letters that continue
// the word of a mark. A writer's own marks never cut a word.
func (p *Patch) typed(o *original, x *part) []span.Span {
	s := span.New(x.at, x.at+x.size)
	switch {
	case x.role == roleForeignComment:
		return []span.Span{s}
	case x.role != roleOriginal:
		return nil
	}
	var out []span.Span
	lastOf := func(s string) bool { return len(markdown.LastWord(s)) > 0 }
	firstOf := func(s string) bool { r, _ := utf8.DecodeRuneInString(s); return markdown.InWord(r) }
	if text := s.Of(o.text); lastOf(o.text[:s.Start]) || lastOf(p.Old[:x.View.Start]) {
		rest := s.End - len(strings.TrimLeftFunc(text, markdown.InWord))
		out = append(out, span.New(s.Start, rest))
		s.Start = rest
	}
	if text := s.Of(o.text); firstOf(o.text[s.End:]) || firstOf(p.Old[x.View.End:]) {
		out = append(out, span.New(s.End-len(markdown.LastWord(text)), s.End))
	}
	return slices.DeleteFunc(out, span.Span.Empty)
}

// newOffset returns the offset in the new text of a range of the accepted view, or -1 if the writer changed the range.
func (p *Patch) newOffset(view span.Span, changes []align.Hunk) int {
	k, _ := slices.BinarySearchFunc(changes, view.Start, func(c align.Hunk, off int) int { return cmp.Or(cmp.Compare(c.Old.End, off), -1) })
	switch {
	case k < len(changes) && changes[k].Old.Start < view.End:
		return -1
	case k == 0:
		return view.Start - p.OldBody + p.NewBody
	}
	return view.Start - changes[k-1].Old.End + changes[k-1].New.End
}
