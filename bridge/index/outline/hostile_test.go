package outline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/tests/need"
)

func TestOfIsLinear(t *testing.T) {
	of := func(text string) { outline.Of(text) }
	need.LinearInParts(t, 60_000, "", "\n# H #t\n", of)
	need.LinearInParts(t, 60_000, "#t ", "", of)
	need.Linear(t, "nested items", 60_000, func(n int) string { return need.Stairs("  ", "- a", n) }, of)
	need.Linear(t, "nested items and quotes", 60_000, func(n int) string { return need.Stairs("> ", "- a", n) }, of)
	need.Linear(t, "one tag of many parts", 60_000, func(n int) string { return "#" + strings.Repeat("a/", n/2) }, of)
	need.Linear(t, "blank lines, much nested", 1_000_000, func(n int) string {
		return strings.Repeat("- ", block.MaxDepth) + "```\n" + strings.Repeat("\n", n)
	}, of)
	need.Linear(t, "blank lines in deep items", 60_000, func(n int) string {
		return strings.Repeat("- ", block.MaxDepth) + "```\n" + strings.Repeat("\n", n)
	}, of)
}

// What nests too deeply is text, and everything else is read as before.
func TestTooDeep(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("> ", n) }
	for _, tt := range []struct {
		name, text string
		line       int
		headings   int
	}{
		{"as deep as may be", deep(block.MaxDepth) + "# In #in\n", 0, 2},
		{"deeper", deep(block.MaxDepth+1) + "# In #in\n", 4, 1},
		{"much deeper", "x\n\n" + deep(10_000) + "# In #in\n", 6, 1},
		{"indented items", need.Stairs("  ", "- #in", 100_000), 4 + block.MaxDepth, 1},
		{"far indented, but flat", strings.Repeat(strings.Repeat(" ", 80)+"- #in\n", 20), 0, 1},
		{"a paragraph between", strings.Repeat("- ", 40) + "#in\nlazy\n" + strings.Repeat(" ", 80) + strings.Repeat("- ", 20) + "x\n", 6, 1},
	} {
		o := outline.Of("---\na: 1\n---\n" + tt.text + "\n# Out #out\n")
		line := 0
		var deep *outline.DepthError
		if errors.As(o.TooDeep, &deep) {
			line = deep.Line
		}
		if line != tt.line || len(o.Headings) != tt.headings {
			t.Errorf("%s: too deep in line %d, %d headings; want %d and %d", tt.name, line, len(o.Headings), tt.line, tt.headings)
		}
		if !o.HasTag("in") && tt.name != "far indented, but flat" || !o.HasTag("out") {
			t.Errorf("%s: tags %q", tt.name, o.Tags)
		}
	}
}
