package tree

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

func TestRulesMatch(t *testing.T) {
	tests := []struct {
		glob string
		path model.Path
		want bool
	}{
		{"Private", "V/Private", true},
		{"Private", "V/Private/a/b.md", true},
		{"/Private/", "V/Private/a.md", true},
		{"Private", "V/Privates.md", false},
		{"Private", "V/sub/Private/a.md", false},
		{"**/Private", "V/sub/Private/a.md", true},
		{"**/Private", "V/Private", true},
		{"V/Private", "V/Private/a.md", true},
		{"W/Private", "V/Private/a.md", false},
		{"**/*.key.md", "V/sub/a.key.md", true},
		{"*.md", "V/sub/a.md", false},
		{"Plan {a,b}.md", "V/Plan b.md", true},
		{"private", "V/PRIVATE/a.md", true},
		{"Caf\u00e9", "V/Cafe\u0301/a.md", true},
		{"V", "V/a.md", false},
		{"*", "V", false},
		{"*", "V/a.md", true},
		{"", "V/a.md", false},
	}
	for _, tt := range tests {
		r, err := NewRules([]string{tt.glob}, []string{"x"})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := match(r.hide, tt.path); got != tt.want {
			t.Errorf("%q matches %q: %v", tt.glob, tt.path, got)
		}
	}
	if r, err := NewRules(nil, []string{""}); r != nil || err != nil {
		t.Errorf("rules without globs: %v, %v", r, err)
	}
	for _, glob := range []string{"[", ".", "./Private", "Private/.", "../V/Private", "Private//a.md"} {
		if _, err := NewRules([]string{glob}, nil); err == nil {
			t.Errorf("%q, which matches no path, is accepted", glob)
		}
	}
}
