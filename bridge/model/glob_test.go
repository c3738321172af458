package model_test

import (
	"slices"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relayfs/relayfs/bridge/model"
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
			if ok, err := doublestar.Match(got, p); err != nil {
				t.Errorf("%q became %q: %v", tt.pattern, got, err)
			} else if ok {
				matches = append(matches, p)
			}
		}
		if !slices.Equal(matches, tt.matches) {
			t.Errorf("%q became %q, which matches %q, want %q", tt.pattern, got, matches, tt.matches)
		}
	}
}
