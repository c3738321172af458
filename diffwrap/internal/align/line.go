package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type lineText struct {
	Side
	mode
	lines []line
}

// line is one line of a text, as offsets. A line includes the break before its text, but excludes the break after its
// text. So a run that adds or deletes whole lines starts with a line break, and bullets, headings and table rows stay
// at the start of their lines.
type line struct {
	breakOff  int  // start of the break before the line; Start for the first line
	span.Span      // the text without breaks
	inFence   bool // a fence of code or a formula is open before the line; Exact does not set it
}

func newLineText(s Side, stretch span.Span, m mode) *lineText {
	p := &lineText{s, m, splitLines(s.Text, stretch.Start, stretch.End, s.Comments)}
	if !m.exact {
		findFences(p.Text, p.lines)
	}
	return p
}

func (p *lineText) all() span.Span { return span.New(0, len(p.lines)) }

func (p *lineText) text(i int) string { return p.lines[i].Of(p.Text) }
func (p *lineText) blank(i int) bool  { return markdown.IsBlank(p.text(i)) }

// marker returns the span of a line's marker, which ends before any comment.
func (p *lineText) marker(i int) span.Span {
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

// splitLines splits text[from:to] into lines. It does not split comments.
func splitLines(text string, from, to int, comments []span.Span) []line {
	lines := make([]line, 0, 1+strings.Count(text[from:to], "\n"))
	current := line{breakOff: from, Span: span.Span{Start: from}}
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
		current = line{breakOff: current.End, Span: span.Span{Start: at + 1}}
	}
	current.End = to
	return append(lines, current)
}

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

// fenceAfter returns the fence of code or a formula that is open after a line, or "". fence is the fence that is open
// before the line.
func fenceAfter(fence, s string) string {
	n := span.Skip(s, 0, " \t>")
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

// breaks returns the line breaks before old line i and new line j. The first line of a text has no break before it. If
// only one of the two lines is a first line, the break before the other line counts as part of the gap above it, and
// breaks returns empty ranges.
func breaks(o, n *lineText, i, j int) Hunk {
	a, b := o.lines[i], n.lines[j]
	if i == 0 || j == 0 {
		return Hunk{span.New(a.Start, a.Start), span.New(b.Start, b.Start)}
	}
	return Hunk{span.New(a.breakOff, a.Start), span.New(b.breakOff, b.Start)}
}

// wholeLines returns the texts of a step's lines, each line with the break before it. The first line of a text has no
// break before it. If a step only adds or deletes lines above that line, the result includes the break after these
// lines instead.
func wholeLines(o, n *lineText, s step) Hunk {
	if onTop(o, n, s) {
		return Hunk{span.New(o.lines[0].Start, o.lines[s.old.End].Start), span.New(n.lines[0].Start, n.lines[s.new.End].Start)}
	}
	return Hunk{linesSpan(o.lines, s.old), linesSpan(n.lines, s.new)}
}

// onTop reports whether a step only adds or only deletes lines at the start of the texts, and both texts have lines
// after it.
func onTop(o, n *lineText, s step) bool {
	return s.old.Start == 0 && (s.old.End == 0 || s.new.End == 0) && s.old.End < len(o.lines) && s.new.End < len(n.lines)
}

func linesSpan(lines []line, s span.Span) span.Span {
	if s.Empty() {
		at := lines[len(lines)-1].End
		if s.Start < len(lines) {
			at = lines[s.Start].breakOff
		}
		return span.New(at, at)
	}
	return span.New(lines[s.Start].breakOff, lines[s.End-1].End)
}
