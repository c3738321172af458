package diffwrap

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// View is what a reader is shown of a raw text.
type View int

const (
	// AcceptedView shows additions and hides deletions, as if every suggestion were accepted. Open comments are
	// shown as they stand, since they are meant to be read; highlight delimiters and resolved comments are hidden.
	AcceptedView View = iota
	// OriginalView shows deletions and hides additions and comments, as if every suggestion were rejected.
	OriginalView
	// RawView is the stored text, marks included.
	RawView
)

// String returns "accepted", "original" or "raw".
func (v View) String() string {
	switch v {
	case AcceptedView:
		return "accepted"
	case OriginalView:
		return "original"
	case RawView:
		return "raw"
	}
	return fmt.Sprintf("View(%d)", int(v))
}

// ParseView is the inverse of View.String.
func ParseView(s string) (View, error) {
	for _, v := range []View{AcceptedView, OriginalView, RawView} {
		if s == v.String() {
			return v, nil
		}
	}
	return AcceptedView, fmt.Errorf("view %q: must be accepted, original or raw", s)
}

// Accepted returns raw with every pending suggestion accepted.
func Accepted(raw string) string { return Render(raw, AcceptedView) }

// Original returns raw with every pending suggestion rejected.
func Original(raw string) string { return Render(raw, OriginalView) }

// Render returns a view of raw. A text without markup is returned as it is, without a copy.
func Render(raw string, v View) string {
	if v == RawView {
		return raw
	}
	return parse(raw).render(v)
}

func (d *document) render(v View) string {
	if d.plain() {
		return d.raw
	}
	var b strings.Builder
	b.Grow(len(d.raw))
	for i := range d.cells {
		b.WriteString(d.cells[i].visible(v).Of(d.raw))
	}
	return b.String()
}

// Segment says that Len bytes at ViewOff of a view are the bytes at RawOff of the raw text.
type Segment struct{ RawOff, ViewOff, Len int }

// Segments lists, in order and without empty ones, which bytes of raw the view shows. Neighbours that are
// contiguous in raw are one segment.
func Segments(raw string, v View) []Segment {
	if raw == "" {
		return nil
	}
	if v == RawView {
		return []Segment{{Len: len(raw)}}
	}
	var out []Segment
	viewOff := 0
	for _, c := range parse(raw).cells {
		s := c.visible(v)
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

// visible returns the span of raw that a view shows of a cell.
func (c *cell) visible(v View) span.Span {
	switch v {
	case RawView:
		return span.New(c.Start, c.End)
	case OriginalView:
		if c.comment > 0 {
			return span.New(c.End, c.End)
		}
		return c.deleted
	}
	return c.added
}
