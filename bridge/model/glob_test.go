package model_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// What exists is meant as it is written; every other pattern stays.
func TestLiteralGlob(t *testing.T) {
	have := []string{"[draft] plan.md", "a/{x,y}.md", `a/b\c.md`, "[old]", "[old]/n.md", "!not [a].md", "[a].md", "open [.md"}
	for _, tt := range []struct {
		pattern string
		matches []string // of have, and of "a.md", "d plan.md", "a/x.md", "a/bc.md"
	}{
		{"[draft] plan.md", []string{"[draft] plan.md"}},
		{"[draft] *.md", []string{"d plan.md"}},
		{"a/{x,y}.md", []string{"a/{x,y}.md"}},
		{"a/{x,z}.md", []string{"a/x.md"}},
		{`a/b\c.md`, []string{`a/b\c.md`}},
		{`a/b\[c.md`, nil},
		{"[old]/**", []string{"[old]", "[old]/n.md"}},
		{"[old]/?.md", []string{"[old]/n.md"}},
		{"[a].md", []string{"[a].md"}},
		{"!not [a].md", []string{"!not [a].md"}},
		{"open [.md", []string{"open [.md"}},
	} {
		got := model.LiteralGlob(tt.pattern, func(p string) bool { return slices.Contains(have, p) })
		var matches []string
		for _, p := range append(slices.Clone(have), "a.md", "d plan.md", "a/x.md", "a/bc.md") {
			if g, err := model.ParseGlob(got); err != nil {
				t.Errorf("%q became %q: %v", tt.pattern, got, err)
			} else if g.Matches(p) {
				matches = append(matches, p)
			}
		}
		if !slices.Equal(matches, tt.matches) {
			t.Errorf("%q became %q, which matches %q, want %q", tt.pattern, got, matches, tt.matches)
		}
	}
}

// Doublestar needed hours for such a pattern and one path.
func TestGlobsTakeLittleTime(t *testing.T) {
	path := "Notes/" + strings.Repeat("a", 200) + ".md"
	for _, pattern := range []string{
		"Notes/" + strings.Repeat("{a,a}", 9) + "b", "Notes/" + strings.Repeat("{*a,a*}", 9) + "b", strings.Repeat("{*a*,**/}", 5) + "b",
		strings.Repeat("{a,b}", 30), strings.Repeat("{*a,a*}", 500), strings.Repeat("{a,", 1000) + strings.Repeat("}", 1000), strings.Repeat("{", 2000) + strings.Repeat("}", 2000),
		"{" + strings.Repeat(",", 4000) + "}", strings.Repeat("{a,b}", 10) + strings.Repeat("{", 2000) + strings.Repeat("}", 2000),
		strings.Repeat("**/", 1000), strings.Repeat("*a", 2000), strings.Repeat("{", 1<<20),
	} {
		need.Call(t, []byte(pattern[:min(30, len(pattern))]), func() {
			if g, err := model.ParseGlob(pattern); err == nil {
				g.Matches(path)
			}
		})
	}
}

// A Glob matches what doublestar matches. Doublestar does not take "*{}" at the end of a path for "*".
func TestGlobsMatchAsInDoublestar(t *testing.T) {
	randomtest.Check(t, 20_000, func(t testing.TB, r *rand.Rand) {
		text := func(parts ...string) string { return strings.Join(randomtest.Some(r, 0, 8, parts...), "") }
		pattern, path := text("a", "b", "/", "*", "**", "?", "{", "{", ",", ",", "}", "}", "[a]", "[!b,]", "[{]", `\{`, `\`), text("a", "b", "/", ",", "{")
		want, err := doublestar.Match(pattern, path)
		g, bad := model.ParseGlob(pattern)
		if err == nil && bad == nil && (want && !g.Matches(path) || !want && g.Matches(path) && !strings.Contains(pattern, "*")) || err != nil && bad == nil {
			t.Errorf("%q and %q: got %t, %v, want %t, %v", pattern, path, g.Matches(path), bad, want, err)
		}
	})
}
