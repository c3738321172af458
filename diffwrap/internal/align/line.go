package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// page is one side of a comparison, with the lines that are compared.
type page struct {
	Side
	mode
	lines []line
}

// line is one line of a text, as offsets into it. The break before it belongs to it, not the one after it: a run that
// adds or deletes whole lines then starts with a line break, and bullets, headings and table rows stay at the
// start of their lines.
type line struct {
	brk       int  // where the break before the line starts; equal to start for the first line
	span.Span      // the line's text, without breaks
	inFence   bool // whether a code fence is open before the line; not found out for Exact
}

// newPage splits a stretch of a text into lines.
func newPage(s Side, stretch span.Span, m mode) *page {
	p := &page{s, m, splitLines(s.Text, stretch.Start, stretch.End, s.Comments)}
	if !m.exact {
		findFences(p.Text, p.lines)
	}
	return p
}

// all numbers all lines.
func (p *page) all() span.Span { return span.New(0, len(p.lines)) }

func (p *page) text(i int) string { return p.lines[i].Of(p.Text) }
func (p *page) blank(i int) bool  { return markdown.IsBlank(p.text(i)) }

// marker returns where the marker of a line stands, up to a comment in it.
func (p *page) marker(i int) span.Span {
	l := p.lines[i]
	if p.fragment && i == 0 {
		return span.New(l.Start, l.Start)
	}
	m := span.New(l.Start, l.Start+markdown.Marker(l.Of(p.Text)))
	if c, ok := markdown.NextComment(p.Comments, m.Start); ok && c.Start < m.End {
		m.End = c.Start
	}
	return m
}

// splitLines splits text[from:to] into lines. A comment is not split.
func splitLines(text string, from, to int, comments []span.Span) []line {
	lines := make([]line, 0, 1+strings.Count(text[from:to], "\n"))
	current := line{brk: from, Span: span.Span{Start: from}}
	for i := from; ; {
		at := strings.IndexByte(text[i:to], '\n')
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		if c, inside := commentAround(comments, at); inside {
			i = c.End
			continue
		}
		current.End = span.BreakStart(text, at, from)
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

// fenceAfter returns the code fence that is open after a line, given the one before; "" for none.
func fenceAfter(fence, s string) string {
	n := markdown.Skip(s, 0, " \t>")
	kind, length := block.Line(s[n:])
	switch {
	case kind != block.FenceLine && kind != block.FormulaFence:
		return fence
	case fence == "":
		return s[n : n+length]
	case s[n] == fence[0] && length >= len(fence):
		return ""
	}
	return fence
}

// breaks returns the line breaks before old line i and new line j that face each other. The first line of a text has
// none; a line that faces the first line gives its break to the gap before it.
func breaks(o, n *page, i, j int) Hunk {
	a, b := o.lines[i], n.lines[j]
	if i == 0 || j == 0 {
		return Hunk{span.New(a.Start, a.Start), span.New(b.Start, b.Start)}
	}
	return Hunk{span.New(a.brk, a.Start), span.New(b.brk, b.Start)}
}

// wholeLines returns the texts of the lines of a step, each with the break before it. The first line of one side has none; a
// gap before it on the other side takes the break after the gap.
func wholeLines(o, n *page, s step) Hunk {
	if onTop(o, n, s) {
		return Hunk{span.New(o.lines[0].Start, o.lines[s.old.End].Start), span.New(n.lines[0].Start, n.lines[s.new.End].Start)}
	}
	return Hunk{linesSpan(o.lines, s.old), linesSpan(n.lines, s.new)}
}

// onTop reports whether a step is one before the first line of one side, which stays.
func onTop(o, n *page, s step) bool {
	return s.old.Start == 0 && (s.old.End == 0 || s.new.End == 0) && s.old.End < len(o.lines) && s.new.End < len(n.lines)
}

func linesSpan(lines []line, s span.Span) span.Span {
	if s.Empty() {
		at := lines[len(lines)-1].End
		if s.Start < len(lines) {
			at = lines[s.Start].brk
		}
		return span.New(at, at)
	}
	return span.New(lines[s.Start].brk, lines[s.End-1].End)
}
