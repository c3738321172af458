package grep_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
)

func TestHas(t *testing.T) {
	for _, tt := range []struct {
		patterns []string
		path     string
		want     bool
	}{
		{nil, "a/b.md", true},
		{[]string{"*.md"}, "b.md", true},
		{[]string{"*.md"}, "a/c/b.md", true},
		{[]string{"*.md"}, "a/b.txt", false},
		{[]string{"a/*.md"}, "a/b.md", true},
		{[]string{"a/*.md"}, "x/a/b.md", false},
		{[]string{"a/*.md"}, "a/c/b.md", false},
		{[]string{"/b.md"}, "b.md", true},
		{[]string{"/b.md"}, "a/b.md", false},
		{[]string{"**/b.md"}, "b.md", true},
		{[]string{"a/**/b.md"}, "a/b.md", true},
		{[]string{"a/**/b.md"}, "a/c/d/b.md", true},
		{[]string{"a/**"}, "a/c/d/b.md", true},
		{[]string{"**"}, "a/c/d/b.md", true},
		{[]string{"?.md"}, "a/b.md", true},
		{[]string{"[a-c].md"}, "b.md", true},
		{[]string{"[!a].md"}, "b.md", true},
		{[]string{"[!b].md"}, "b.md", false},
		{[]string{"*.{md,txt}"}, "a/b.txt", true},
		{[]string{"{a,c}/*.md"}, "c/b.md", true},
		{[]string{"a"}, "a/b.md", false},
		{[]string{"!a"}, "a/b.md", false},
		{[]string{"!a"}, "c/b.md", true},
		{[]string{"!a/"}, "a/b.md", false},
		{[]string{"!a/"}, "c/a", true},
		{[]string{"*.md", "!b.md"}, "a/b.md", false},
		{[]string{"!b.md", "*.md"}, "a/b.md", true},
		{[]string{"*.MD"}, "b.md", false},
		{[]string{"*.md"}, ".b.md", true},
		{[]string{"*é*"}, "a/café.md", true},
	} {
		s, err := grep.ParseGlobs(tt.patterns...)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Has(tt.path); got != tt.want {
			t.Errorf("%q has %q: %v, want %v", tt.patterns, tt.path, got, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, bad := range []string{"[a", "{a,b", "a/[", `\`} {
		if _, err := grep.ParseGlobs("*.md", bad); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("Parse(%q): %v", bad, err)
		}
	}
}

func TestList(t *testing.T) {
	for list, want := range map[string][]string{
		"*.md":              {"*.md"},
		"*.md, *.txt":       {"*.md", "*.txt"},
		"*.{md,txt},!a,,":   {"*.{md,txt}", "!a"},
		`a\,b,[,]x`:         {`a\,b`, "[,]x"},
		"{a,{b,c}},d/[a,b]": {"{a,{b,c}}", "d/[a,b]"},
		"":                  nil,
	} {
		if got := grep.SplitGlobs(list); !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", list, got, want)
		}
	}
}

func TestType(t *testing.T) {
	for name, want := range map[string]struct{ ok, md bool }{
		"md": {true, true}, "markdown": {true, true}, "all": {true, true}, "js": {true, false}, "nonsense": {false, true}, // without patterns every path is in the set

	} {
		patterns, ok := grep.TypeGlobs(name)
		s, err := grep.ParseGlobs(patterns...)
		if err != nil {
			t.Fatal(err)
		}
		if ok != want.ok || s.Has("a/b.md") != want.md {
			t.Errorf("Type(%q): known %v, has notes %v", name, ok, s.Has("a/b.md"))
		}
	}
}
