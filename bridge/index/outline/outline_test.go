package outline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/outline"
)

// Row 35: what is a tag, and that #a/b is found as a, whatever its case (TestHasTag).
func TestTags(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"in text", "one #a and #b-c_d, #e/f/g.\n", "a b-c_d e/f/g"},
		{"front matter list", "---\ntags: [x, \"#y/z\"]\n---\n#a\n", "x y/z a"},
		{"front matter string", "---\ntags: x, y z\n---\n", "x y z"},
		{"front matter, tag", "---\nTag: x\n---\n", "x"},
		{"case", "#Work #work #WORK\n", "Work"},
		{"digits", "#1984 #y1984 #1984a\n", "y1984 1984a"},
		{"digits in front matter", "---\ntags: [1984, y]\n---\n", "y"},
		{"heading is none", "# Title\n## Second #t\n", "t"},
		{"within a word", "a#b http://x/#y &#39; ##z\n", ""},
		{"code span", "`#a` ``#b ` #c`` #d\n", "d"},
		{"fenced code", "```\n#a\n```\n~~~\n#b\n~~~\n#c\n", "c"},
		{"indented code", "x\n\n    #a\n\n#b\n", "b"},
		{"list and quote", "- #a\n  - x #b\n> #c\n> - #d\n", "a b c d"},
		{"table", "| x | y |\n|---|---|\n|#a| #b |\n", "a b"},
		{"wikilink", "[[Note #a]] [[N#b]] #c\n", "c"},
		{"comment", "x <!-- #a --> #b\n\n<!--\n#c\n-->\n\n#d\n", "b d"},
		{"escaped", "\\#a #b\n", "b"},
		{"emoji and scripts", "#🌱 #味噌/汁 #été\n", "🌱 味噌/汁 été"},
		{"slashes", "#a/ #/b\n", "a b"},
		{"CRLF", "#a\r\n#b\r\n", "a b"},
		{"quotes without blanks", ">#a\n> >#b\nx>#no </b>#no\n", "a b"},
		{"columns of tabs", "> \t#a\n\n>\t#b\n\n- \n\n\t#no\n\n- x\n\n  \t#c\n\n\t\t#no\n", "a b c"},
		{"list ends with a tag", "* one\n* two #x", "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := outline.Of(tt.text)
			if got := strings.Join(o.Tags, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHasTag(t *testing.T) {
	o := outline.Of("#Work/Urgent #home\n")
	for tag, want := range map[string]bool{
		"work": true, "#WORK": true, "work/urgent": true, "work/urgent/now": false, "wor": false, "home/": true, "urgent": false, "": false,
	} {
		if got := o.HasTag(tag); got != want {
			t.Errorf("HasTag(%q) = %v", tag, got)
		}
	}
}

func TestStructure(t *testing.T) {
	o := outline.Of("---\ntitle: T\n---\n# One #\n\ntext\n\nTwo\n===\n\n- ### Three\n\n```go\n# no\n```\n\n    indented\n\n> ~~~\n> x\n\n[[a]] ![[b|c]] [d](e.md) `[[no]]`\n")
	if got, want := fmt.Sprint(o.Headings), "[{1 One 4} {1 Two 8} {3 Three 11}]"; got != want {
		t.Errorf("headings %s, want %s", got, want)
	}
	if o.CodeBlocks != 3 || o.Wikilinks != 2 {
		t.Errorf("%d code blocks and %d wikilinks, want 3 and 2", o.CodeBlocks, o.Wikilinks)
	}
	if v, _ := o.Properties.Get("title"); v != "T" || o.Invalid != nil {
		t.Errorf("properties %v, %v", o.Properties, o.Invalid)
	}
	if o := outline.Of("---\na: [\n---\n# H\n"); o.Invalid == nil || o.Properties != nil || !slices.Equal(o.Headings, []outline.Heading{{1, "H", 4}}) {
		t.Errorf("invalid front matter: %+v", o)
	}
}

func TestCount(t *testing.T) {
	tests := []struct {
		text         string
		words, chars int
	}{
		{"", 0, 0},
		{"one two\nthree\n", 3, 14},
		{"it's well-known, isn't it?", 4, 26},
		{"- * + # --", 0, 10},
		{"味噌汁 and 豆腐", 6, 10},
		{"한국어 텍스트", 2, 7},
		{"🌱 été", 1, 5},
	}
	for _, tt := range tests {
		if words, chars := outline.Count(tt.text); words != tt.words || chars != tt.chars {
			t.Errorf("Count(%q) = %d, %d, want %d, %d", tt.text, words, chars, tt.words, tt.chars)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("---\ntags: [a]\n---\n# H #t\n`x` [[l]]\n")
	f.Add("> - ```\n> #x\n\\#y <!-- #z")
	f.Fuzz(func(t *testing.T, text string) {
		o := outline.Of(text)
		for _, tag := range o.Tags {
			if !o.HasTag(tag) || strings.ContainsAny(tag, " #\n") {
				t.Errorf("%q has the tag %q", text, tag)
			}
		}
		if lines := 1 + strings.Count(text, "\n"); slices.ContainsFunc(o.Headings, func(h outline.Heading) bool { return h.Line > lines }) {
			t.Errorf("%q: headings %v", text, o.Headings)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := "---\ntags: [a, b]\ndate: 2024-05-06\n---\n# Head\n\n" + strings.Repeat("Some *plain* prose with a [[Link]] and a #tag in it, and more words than that.\n\n- item `code`\n- item\n\n", 35)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		outline.Of(text)
	}
}
