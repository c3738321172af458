// Package span has ranges of a text ([Span]), edits that replace them ([Edit]), and lines with their breaks, LF and CR
// LF. A script is a list of edits in the order of their offsets, which refer to the text before the first edit. The
// package builds, applies and composes scripts.
package span

// Span is a half-open range of bytes.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func New(start, end int) Span { return Span{start, end} }

func (s Span) Len() int           { return s.End - s.Start }
func (s Span) Empty() bool        { return s.Start >= s.End }
func (s Span) Of(t string) string { return t[s.Start:s.End] }
func (s Span) Shift(by int) Span  { return New(s.Start+by, s.End+by) }

// Shift moves spans, and drops spans that would start before 0.
func Shift(spans []Span, by int) []Span {
	var out []Span
	for _, s := range spans {
		if s = s.Shift(by); s.Start >= 0 {
			out = append(out, s)
		}
	}
	return out
}
