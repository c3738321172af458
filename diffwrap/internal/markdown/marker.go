// Package markdown finds the inline constructs that no mark may cut: line markers, tokens, and atoms (such as links and
// code spans), which may span lines. It also finds the ranges in which a text is literal ([Zones]). Package block
// classifies lines and finds blocks.
package markdown

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// LineMarker is a rule about the marker that gives a line its kind.
type LineMarker struct {
	Name  string
	kinds []block.LineKind
}

// LineMarkers are the rules about markers that follow indentation and quote markers.
var LineMarkers = []LineMarker{
	{"callout marker", []block.LineKind{block.CalloutLine}},
	{"line of rule characters", []block.LineKind{block.RuleLine}},
	{"fence marker", []block.LineKind{block.FenceLine, block.FormulaFence}},
	{"heading marker", []block.LineKind{block.HeadingLine}},
	{"checkbox", []block.LineKind{block.TaskLine}},
	{"item marker", []block.LineKind{block.ItemLine}},
}

// Marker returns the length of the prefix that gives a line its kind: indentation, quote markers, and the markers of
// LineMarkers. If the marker changes, the whole line is replaced, because a mark before or inside the marker would
// change how the line is rendered.
func Marker(s string) int {
	n := indentation(s)
	kind, end := block.Line(s[n:])
	if end > 0 && slices.ContainsFunc(LineMarkers, func(m LineMarker) bool { return slices.Contains(m.kinds, kind) }) {
		n += end
	}
	return n
}

// Fixed reports whether text inserted at an offset would become part of a literal block, or would change the kind of the
// line: the offset is not after the line's marker, or the whole line is a marker or a definition.
func Fixed(text string, at int) bool {
	body, _ := block.FrontMatter(text)
	if at < body {
		return true
	}
	blocks := block.Scan(text[body:])
	for _, s := range block.Literals(text[body:], blocks) {
		if s.Start+body <= at && at <= s.End+body {
			return true
		}
	}
	for _, b := range blocks {
		if b.Kind == block.Definition && b.Start+body <= at && at <= b.End+body {
			return true
		}
	}
	start := span.LineStart(text, at)
	line := strings.TrimRight(text[start:span.LineEnd(text, at)], "\r\n")
	indent := indentation(line)
	kind, n := block.Line(line[indent:])
	switch kind {
	case block.FenceLine, block.FormulaFence, block.RuleLine:
		return true
	case block.DefinitionLine:
		return block.Defines(line[indent:])
	case block.FootnoteLine:
		n = strings.Index(line[indent:], "]:") + len("]:")
	}
	marker := indent + n
	return at <= start+marker && strings.Trim(line[:marker], " \t") != ""
}

// indentation returns the length of the blanks and quote markers at the start of a line.
func indentation(s string) int {
	n := span.Skip(s, 0, " \t")
	for n < len(s) && s[n] == '>' {
		n = span.Skip(s, n+1, " \t")
	}
	return n
}

func IsBlank(line string) bool { return span.Skip(line, 0, " \t\r") == len(line) }
