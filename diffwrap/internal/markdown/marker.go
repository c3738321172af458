// Package markdown finds the constructs that a change leaves whole: the marker of a line, the tokens of its text, and atoms that go on
// over line breaks. It reads a line, or the lines of a paragraph, by itself; what a line is says package block.
package markdown

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
)

// LineMarker is a rule about what makes a line what it is.
type LineMarker struct {
	Rule
	kinds []block.LineKind
}

// LineMarkers are all but indentation and the marks of quotes, which stand before them.
var LineMarkers = []LineMarker{
	{NewRule("callout marker", "the type of a callout changes", "the line is replaced whole",
		"Text.{--\n> [!tip] Title--}{++\n> [!note] Title++}"), []block.LineKind{block.CalloutLine}},
	{NewRule("line of rule characters", "a thematic break, an underline or a delimiter row changes", "it is replaced whole",
		"Text.\n{--\n- - ---}{++\n- - - -++}\n\nMore."), []block.LineKind{block.RuleLine}},
	{NewRule("fence marker", "a fence becomes another one", "its line is replaced whole",
		"Text.\n\n{--```js\n--}{++~~~js\n++}code{--\n```--}{++\n~~~++}"), []block.LineKind{block.FenceLine, block.FormulaFence}},
	{NewRule("heading marker", "the level of a heading changes", "the line is replaced whole",
		"Text.\n{--\n## Title--}{++\n### Title++}\n\nMore."), []block.LineKind{block.HeadingLine}},
	{NewRule("checkbox", "a task is done, or is no task any longer", "the line is replaced whole",
		"- a{--\n- [ ] b--}{++\n- [x] b++}"), []block.LineKind{block.TaskLine}},
	{NewRule("item marker", "a bullet or a number changes", "the line is replaced whole",
		"1. a{--\n2. b--}{++\n3. b++}"), []block.LineKind{block.ItemLine}},
}

// Marker is the part of a line that makes it what it is: indentation, quote marks, and what LineMarkers say.
// It returns the marker's length. Where the marker changes the whole line is replaced, since a mark in front of it
// or inside it would stop the line from being rendered as what it is.
func Marker(s string) int {
	n := indentation(s)
	kind, end := block.Line(s[n:])
	if end > 0 && slices.ContainsFunc(LineMarkers, func(m LineMarker) bool { return slices.Contains(m.kinds, kind) }) {
		n += end
	}
	return n
}

// indentation returns the length of the blanks and the marks of quotes that a line starts with.
func indentation(s string) int {
	n := Skip(s, 0, " \t")
	for n < len(s) && s[n] == '>' {
		n = Skip(s, n+1, " \t")
	}
	return n
}

// Skip returns the offset after the run of bytes of set that starts at offset i.
func Skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

func IsBlank(line string) bool { return Skip(line, 0, " \t\r") == len(line) }
