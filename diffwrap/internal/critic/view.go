package critic

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

type View int

const (
	// AcceptedView shows additions and hides deletions, as if every suggestion were accepted. It shows open comments
	// with their markup, because readers need them. It hides highlight delimiters and resolved comments.
	AcceptedView View = iota
	// OriginalView shows deletions and hides additions, as if every suggestion were rejected. It also hides comments,
	// even deleted ones, and highlight delimiters.
	OriginalView
	// RawView is the stored text with its marks.
	RawView
)

var viewNames = []string{"accepted", "original", "raw"}

func (v View) String() string { return viewNames[v] }

func ParseView(s string) (View, error) {
	if v := slices.Index(viewNames, s); v >= 0 {
		return View(v), nil
	}
	return AcceptedView, fmt.Errorf("view %q: must be accepted, original or raw", s)
}

func (d *Document) Render(v View) string {
	if d.Plain() {
		return d.Raw
	}
	var b strings.Builder
	b.Grow(len(d.Raw))
	for i := range d.Cells {
		b.WriteString(d.Cells[i].visible(v).Of(d.Raw))
	}
	return b.String()
}

type Segment struct{ RawOff, ViewOff, Len int }

// ViewOff converts an offset of the raw text to an offset of the view with these segments. Text that the view does not
// show has the offset of the text behind it.
func ViewOff(segments []Segment, raw int) int {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].RawOff+segments[i].Len > raw })
	switch {
	case i < len(segments):
		return segments[i].ViewOff + max(0, raw-segments[i].RawOff)
	case i > 0:
		return segments[i-1].ViewOff + segments[i-1].Len
	}
	return 0
}

func (d *Document) Segments(v View) (out []Segment) {
	viewOff := 0
	for i := range d.Cells {
		s := d.Cells[i].visible(v)
		if s.Empty() {
			continue
		}
		if n := len(out); n > 0 && out[n-1].RawOff+out[n-1].Len == s.Start {
			out[n-1].Len += s.Len()
		} else {
			out = append(out, Segment{RawOff: s.Start, ViewOff: viewOff, Len: s.Len()})
		}
		viewOff += s.Len()
	}
	return out
}

// Shows reports whether the accepted view of the document equals text. It does not build the view.
func (d *Document) Shows(text string) bool {
	for i := range d.Cells {
		s := d.Cells[i].Added().Of(d.Raw)
		if !strings.HasPrefix(text, s) {
			return false
		}
		text = text[len(s):]
	}
	return text == ""
}

// EndsHighlight returns the offset in the accepted view of a closer of a highlight that is text in one, or -1. It would end
// that highlight once it is accepted.
func (d *Document) EndsHighlight(view string) int {
	off, from := 0, 0
	for i := range d.Cells {
		switch c := &d.Cells[i]; c.Kind {
		case HighlightOpen:
			from = off
		case HighlightClose:
			if at := strings.Index(view[from:off], c.Of(d.Raw)); at >= 0 {
				return from + at
			}
		default:
			off += c.Added().Len()
		}
	}
	return -1
}
