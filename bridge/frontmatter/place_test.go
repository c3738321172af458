package frontmatter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// A '#' begins a comment only where taking it away changes no value.
func TestComments(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"---\nstatus: open # as yet\ncolor: \"#fff\"\n---\n# Heading\n", []string{"# as yet"}},
		{"---\ntitle: \"Issue #4\" # real\n---\n", []string{"# real"}},
		{"---\ntitle: 'a # b'\nplain: C#\n---\n", nil},
		{"---\ntext: |\n  # no comment\n  x # neither\n# one\nb: 1\n---\n", []string{"# one"}},
		{"---\nlist:\n  # about a\n  - a # first\n  - \"#tag\"\n---\n", []string{"# about a", "# first"}},
		{"---\na: [x, # in\n  y]\n---\n", []string{"# in"}},
		{"---\r\na: 1 # c\r\n---\r\n", []string{"# c"}},
		{"---\na: [ # broken\n---\n", []string{"# broken"}},
		{"# no front matter\n", nil},
	} {
		var got []string
		for _, r := range frontmatter.Comments(tt.text) {
			got = append(got, tt.text[r.From:r.To])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestEntry(t *testing.T) {
	const text = "---\na: 1\n# about b\nb:\n  - x # c\n\n# last\nc: |\n  d\n---\nBody\n"
	for key, want := range map[string]string{"a": "a: 1\n", "b": "b:\n  - x # c\n", "c": "c: |\n  d\n", "d": ""} {
		at, ok := frontmatter.Entry(text, key)
		if got := text[at.From:at.To]; got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", key, got, ok)
		}
	}
	if _, ok := frontmatter.Entry("---\n{a: 1}\n---\n", "a"); ok {
		t.Error("an entry in braces has lines of its own")
	}
	for _, text := range []string{"", "a: 1\n", "---\n---\n", "---\na: [\n---\n"} {
		if at, ok := frontmatter.Entry(text, "a"); ok {
			t.Errorf("%q has an entry at %v", text, at)
		}
	}
}

// Without properties there is no front matter, unless a comment stands in it or the text would begin with another.
func TestRewriteToNothing(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: 1\n---\nBody\n":               "Body\n",
		"---\na: 1\n\nb: 2\n---\n\nBody\n":     "\nBody\n",
		"\ufeff---\r\na: 1\r\n---\r\nBody\r\n": "\ufeffBody\r\n",
		"---\n# mine\na: 1\n---\nBody\n":       "---\n# mine\n---\nBody\n",
		"---\na: 1\n---\n---\nb: 2\n---\nBody": "---\n---\n---\nb: 2\n---\nBody",
		"---\n---\nBody\n":                     "---\n---\nBody\n",
		"Body\n":                               "Body\n",
		"---\n{a: 1}\n---\nBody\n":             "Body\n",
		"---\na: 1\n---\n":                     "",
		"---\na:\n  - 1\n  # in\n---\nBody\n":  "",
		"---\na: |\n  " + "x\n\n\n---\nBody\n": "Body\n",
	} {
		got, err := frontmatter.Rewrite(text, frontmatter.Properties{})
		if want == "" && strings.Contains(text, "# in") {
			if err != nil || !strings.HasSuffix(got, "Body\n") {
				t.Errorf("%q: %q, %v", text, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
