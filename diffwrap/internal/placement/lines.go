package placement

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Line is a rule about lines that lose their kind because of a mark. start and end are set if an unchanged line loses
// its kind when a mark directly precedes or follows it. inside is set if the first or the last line inside a mark loses
// its kind.
type Line struct {
	Name               string
	is                 func(kind block.LineKind, s string) bool // s is without indentation and quote markers
	start, end, inside bool
}

// Lines are the rules about lines. A mark at the edge of such a line is moved if possible.
var Lines = []Line{
	{"heading", of(block.HeadingLine), true, true, false},
	{"fence", of(block.FenceLine, block.FormulaFence), true, true, true},
	{"rule", of(block.RuleLine), true, true, false},
	{"formula", around("$$"), true, true, true},
	{"comment", around("%%"), true, true, true},
	{"HTML", of(block.TagLine), true, true, true},
	{"callout", of(block.CalloutLine), true, true, false},
	{"definition", of(block.DefinitionLine), true, true, true},
	{"footnote", of(block.FootnoteLine), true, false, false},
	{"block id", hasBlockID, false, true, false},
	{"row", isRow, true, false, false},
	{"item", of(block.ItemLine, block.TaskLine), true, false, false},
}

func of(kinds ...block.LineKind) func(block.LineKind, string) bool {
	return func(kind block.LineKind, _ string) bool { return slices.Contains(kinds, kind) }
}

func around(mark string) func(block.LineKind, string) bool {
	return func(_ block.LineKind, s string) bool { return strings.HasPrefix(s, mark) || strings.HasSuffix(s, mark) }
}

func isRow(_ block.LineKind, s string) bool      { return block.IsRow(s) }
func hasBlockID(_ block.LineKind, s string) bool { return blockID(s) > 0 }

// blockID returns the length of the block ID at the end of a text, or 0.
func blockID(s string) int { return max(0, len(s)-markdown.BlockID(s, len(s))) }

// edge is the place at which a mark touches a line.
type edge int

const (
	start edge = iota
	end
	inside // the line is inside the mark
)

// breaksLine reports whether a mark at an edge of a line changes the kind of the line.
func breaksLine(s string, at edge) bool {
	if at == start && strings.HasPrefix(s, ">") {
		return true
	}
	s = strings.TrimRight(strings.TrimLeft(s, " \t>"), " \t\r")
	if s == "" {
		return false
	}
	kind, _ := block.Line(s)
	for _, l := range Lines {
		if [...]bool{start: l.start, end: l.end, inside: l.inside}[at] && l.is(kind, s) {
			return true
		}
	}
	return false
}

// spoiledLines counts the lines whose kind changes because of the marks of a hunk.
func (p *layout) spoiledLines(h align.Hunk) (n int) {
	count := func(s string, at edge) {
		if breaksLine(s, at) {
			n++
		}
	}
	old := p.old.Text
	oldRun, newRun := h.Old.Of(old), h.New.Of(p.new.Text)
	from := span.LineStart(old, h.Old.Start)
	if span.StartsWithBreak(oldRun) && span.StartsWithBreak(newRun) {
		count(old[from:h.Old.Start], end)
	}
	last := newRun
	if last == "" {
		last = oldRun
	}
	if strings.HasSuffix(last, "\n") {
		count(firstLine(old[h.Old.End:]), start)
	}
	for _, run := range []string{oldRun, newRun} {
		if strings.IndexByte(run, '\n') < 0 {
			continue
		}
		if from == h.Old.Start {
			count(firstLine(run), inside)
		}
		if !strings.HasSuffix(run, "\n") {
			count(run[span.LineStart(run, len(run)):], inside)
		}
	}
	return n
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
