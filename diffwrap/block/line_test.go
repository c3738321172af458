package block

import "testing"

// What a line is by itself, and how much of it is the marker.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		line   string
		kind   LineKind
		marker string
	}{
		{"", Prose, ""},
		{"word - and | more", Prose, ""},
		{"# Title", HeadingLine, "# "},
		{"##\tTitle", HeadingLine, "##\t"},
		{"######", HeadingLine, "######"},
		{"#tag", Prose, ""},
		{"####### seven", Prose, ""},
		{"```js", FenceLine, "```"},
		{"~~~~", FenceLine, "~~~~"},
		{"```code```", Prose, ""},
		{"$$", FormulaFence, "$$"},
		{"$$x$$", Prose, ""},
		{"---", RuleLine, "---"},
		{"* * *", RuleLine, "* * *"},
		{"==", RuleLine, "=="},
		{"--", RuleLine, "--"},
		{"|---|:-:|", RuleLine, "|---|:-:|"},
		{":-- | --:", RuleLine, ":-- | --:"},
		{"| a | b |", RowLine, ""},
		{"-", ItemLine, "-"},
		{"- a", ItemLine, "- "},
		{"12)  a", ItemLine, "12)  "},
		{"1234567890. a", Prose, ""},
		{"-a", Prose, ""},
		{"**a** b", Prose, ""},
		{"- [x] done", TaskLine, "- [x] "},
		{"1. [ ]", TaskLine, "1. [ ]"},
		{"- [x](y)", ItemLine, "- "},
		{"[!tip]- Title", CalloutLine, "[!tip]- "},
		{"[^1]: note", FootnoteLine, ""},
		{"[a b]: /c", DefinitionLine, ""},
		{"[a](b) and [c]: d", Prose, ""},
		{"<div>", TagLine, ""},
	} {
		if kind, n := Line(tt.line); kind != tt.kind || tt.line[:n] != tt.marker {
			t.Errorf("%q is of kind %d with the marker %q, want %d and %q", tt.line, kind, tt.line[:n], tt.kind, tt.marker)
		}
	}
}
