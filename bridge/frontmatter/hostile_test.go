package frontmatter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/tests/need"
)

func TestParseIsLinear(t *testing.T) {
	parse := func(text string) { _, _ = frontmatter.Parse(text) }
	for _, before := range []string{"---\n", "---\na: ", "---\na: [x, ", "---\na: |\n  "} {
		need.LinearInParts(t, 15_000, before, "\n---\n", parse)
	}
	need.Linear(t, "nested mappings", 60_000, func(n int) string { return "---\n" + need.Stairs(" ", "a:", n) + "---\n" }, parse)
}

func TestRewriteIsLinear(t *testing.T) {
	for _, tt := range []struct{ name, before, part, after string }{
		{"properties", "", "kN: v\n", ""},
		{"lists", "", "kN: [a, b]\n", ""},
		{"flow mapping", "a: {", "kN: v, ", "}\n"},
		{"flow list", "a: [", "'N', ", "]\n"},
		{"block list", "a:\n", "  - N\n", ""},
		{"comments", "a: 1\n", "# N\n", ""},
	} {
		text := func(n int) string {
			return "---\nz: 1\n" + tt.before + need.Repeat(tt.part, n) + tt.after + "---\n"
		}
		need.Linear(t, tt.name, 20_000, text, func(text string) {
			p, err := frontmatter.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := frontmatter.Rewrite(text, p.With("z", "2").With("new", "x")); err != nil {
				t.Error(err)
			}
		})
	}
}

// Front matter of 60 KB took gigabytes: by brackets, and by what its aliases repeat.
func TestParseTakesLittleMemory(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":        "---\na: " + strings.Repeat("[", 60_000),
		"brackets, ended": "---\na: " + strings.Repeat("[", 60_000) + "\n---\n",
		"braces":          "---\na: " + strings.Repeat("{", 60_000) + "\n---\n",
		"aliases":         "---\na: &a " + strings.Repeat("x", 30_000) + "\nb: [" + strings.Repeat("*a, ", 7_000) + "]\n---\n",
		"aliased name":    "---\na: &a " + strings.Repeat("x", 30_000) + "\n? [" + strings.Repeat("*a, ", 7_000) + "]\n: 1\n---\n",
		"names in names":  "---\n" + strings.Repeat("? [", 150) + strings.Repeat("x", 60_000) + strings.Repeat("]", 150) + "\n: 1\n---\n",
	} {
		need.Call(t, []byte(name), func() {
			p, err := frontmatter.Parse(text)
			_, _ = fmt.Sprint(err), frontmatter.Text(p)
		})
	}
}
