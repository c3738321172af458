package textrange

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestReplace(t *testing.T) {
	for _, tt := range []struct{ name, doc, old, new, want string }{
		{"plain", "a b c", "b", "x", "a x c"},
		{"absent", "a b c", "d", "x", "a b c"},
		{"empty new", "a b c", "b ", "", "a c"},
		{"whole line", "a\nb\nc\n", "b", "", "a\nc\n"},
		{"whole lines", "a\nb\nc\nd\n", "b\nc", "", "a\nd\n"},
		{"whole last line", "a\nb", "b", "", "a\n"},
		{"part of a line", "a\nb c\nd\n", "b ", "", "a\nc\nd\n"},
		{"line with its break", "a\nb\nc\n", "b\n", "", "a\nc\n"},
		{"CRLF text, LF arguments", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF whole line", "a\r\nb\r\nc\r\n", "b", "", "a\r\nc\r\n"},
		{"CRLF begun by the arguments", "a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n"},
		{"CRLF taken away", "a\r\nb\r\n", "\nb", "b", "ab\r\n"},
		{"CRLF kept when given", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		{"curly quotes", "He said “don’t go”.", `"don't go"`, `"won't stay"`, "He said “won’t stay”."},
		{"straight quotes stay", `He said "no".`, `"no"`, `"yes"`, `He said "yes".`},
		{"exact match before curly", "“a” \"a\"", `"a"`, `"b"`, "“a” \"b\""},
		{"curly given", "“a”", "“a”", `"b"`, `"b"`},
		{"nested quotes", "“‘a’ b”", `"'a' b"`, `"'c' d"`, "“‘c’ d”"},
		{"emoji", "👩‍👧 x", "x", "y", "👩‍👧 y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := diffwrap.Apply(tt.doc, Replace(tt.doc, Find(tt.doc, tt.old), tt.old, tt.new)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFindAll(t *testing.T) {
	for _, tt := range []struct {
		doc, old string
		want     []Range
	}{
		{"aXbX", "X", []Range{{Start: 1, End: 2}, {Start: 3, End: 4}}},
		{"aaa", "aa", []Range{{Start: 0, End: 2}, {Start: 1, End: 3}}},
		{"ééé", "é", []Range{{Start: 0, End: 2}, {Start: 2, End: 4}, {Start: 4, End: 6}}},
		{"abc", "", nil},
		{"“x” “x”", `"x"`, []Range{{Start: 0, End: 7}, {Start: 8, End: 15}}},
	} {
		if got := Find(tt.doc, tt.old); !slices.Equal(got, tt.want) {
			t.Errorf("Find(%q, %q) = %v, want %v", tt.doc, tt.old, got, tt.want)
		}
	}
	if got := NonOverlapping([]Range{{Start: 0, End: 2}, {Start: 1, End: 3}, {Start: 2, End: 4}}); !slices.Equal(got, []Range{{Start: 0, End: 2}, {Start: 2, End: 4}}) {
		t.Errorf("apart = %v", got)
	}
}

// Whatever is found, the text there is what was looked for, but for quotes and
// line breaks, and cuts no character. What is there without cutting a CRLF is found.
func TestFindAllProperties(t *testing.T) {
	alphabet := []rune("ab'\"‘’“”\r\né👩")
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		doc, old := string(randomtest.Some(r, 0, 20, alphabet...)), string(randomtest.Some(r, 0, 4, alphabet...))
		wantPlain, _ := plainForm(old)
		for _, p := range Find(doc, old) {
			found := doc[p.Start:p.End]
			if plain, _ := plainForm(found); plain != wantPlain {
				t.Fatalf("found %q for %q in %q", found, old, doc)
			}
			if !utf8.ValidString(doc[:p.Start]) || !utf8.ValidString(found) {
				t.Fatalf("%q is cut out of %q", found, doc)
			}
		}
		whole := slices.ContainsFunc(findExact(doc, old, nil), func(p Range) bool { return !cutsBreak(doc, p) })
		if whole && len(Find(doc, old)) == 0 {
			t.Fatalf("%q not found in %q", old, doc)
		}
	})
}

func TestNewMarkup(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		want                string // delimiter:line, or ""
	}{
		{"plain", "a", "a b", ""},
		{"addition", "a", "a\n{++b++}", "{++:2"},
		{"deletion", "a", "{--a--}", "{--:1"},
		{"substitution", "a", "{~~a~>b~~}", "{~~:1"},
		{"highlight", "a", "{==a==}", "{==:1"},
		{"comment", "a", "a{>>b<<}", ""},
		{"inline code", "a", "`{++i}` a", ""},
		{"inline code with two backticks", "a", "``{++` i}`` a", ""},
		{"after inline code", "a", "`x` {++i", "{++:1"},
		{"fence", "a", "```c\n{++i;}\n```\n", ""},
		{"fence with tildes", "a", "~~~\n{++i;}\n```\n~~~\n", ""},
		{"after a fence", "a", "```\nx\n```\n{++i", "{++:4"},
		{"fence without an end", "a", "```\n{++i", ""},
		{"there before", "{++x", "{++x y", ""},
		{"there before on another line", "{++x", "b\n{++x", ""},
		{"one more", "{++x", "{++x\n{++y", "{++:2"},
		{"moved into prose", "`{++x`", "`{++x`\n{++z", "{++:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if d, off, found := newMarkup(tt.before, tt.after); found {
				got = d + ":" + string(rune('0'+LineOf(tt.after, off)))
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The error names the line of the argument, wherever its text is in the document.
func TestCheckMarkup(t *testing.T) {
	for _, tt := range []struct {
		name, arg, before, after string
		begin, want              int // line, or 0 for no error
	}{
		{"whole text", "a\n{++b++}", "", "a\n{++b++}", 0, 2},
		{"after blank lines that a tool adds", "{++b++}", "a\n", "a\n\n{++b++}\n", 2, 1},
		{"after lines that a tool omits", "\n\n{++b++}", "a\n", "a\n\n{++b++}\n", 2, 3},
		{"below front matter", "b\n{==c==}", "---\nx: 1\n---\na", "---\nx: 1\n---\nb\n{==c==}", 13, 2},
		{"CRLF", "b\n{==c==}", "a\r\n", "b\r\n{==c==}\r\n", 0, 2},
		{"after code with the delimiter", "`{++`\n{++b++}", "a\n", "a\n\n`{++`\n{++b++}\n", 2, 2},
		{"in the second of two places", "b\n{++c++}", "`x`\n\nx", "`b\n{++c++}`\n\nb\n{++c++}", 0, 2},
		{"made by both together", "+x++}", "{+", "{++x++}", 2, 1},
		{"text", "`{++`", "a", "a `{++`", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := CheckMarkup(Argument{"content", tt.arg}, diffwrap.AcceptedView, tt.before, tt.after, tt.begin)
			if want := fmt.Sprintf("at line %d,", tt.want); (err != nil) != (tt.want > 0) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// A text that differs only in blanks, quotes and the forms of characters is found, and what an edit does not touch of it
// stays as it is.
func TestReplaceNear(t *testing.T) {
	for _, tt := range []struct{ name, doc, old, new, want string }{
		{"no-break space", "ten\u00a0kg of flour", "ten kg of", "ten kg and more of", "ten\u00a0kg and more of flour"},
		{"narrow no-break space", "à\u202f! là", "à ! là", "à ! ici", "à\u202f! ici"},
		{"NFD in the document", "Cafe\u0301 noir", "Caf\u00e9 noir", "Caf\u00e9 blanc", "Cafe\u0301 blanc"},
		{"NFC in the document", "Caf\u00e9 noir", "Cafe\u0301 noir", "Cafe\u0301 blanc", "Caf\u00e9 blanc"},
		{"tab for blanks", "- a\n\t- b\n\t- c\n", "- a\n    - b", "- a\n    - B", "- a\n\t- B\n\t- c\n"},
		{"blanks for a tab", "- a\n    - b\n", "- a\n\t- b", "- A\n\t- b", "- A\n    - b\n"},
		{"trailing blanks stay", "one  \ntwo\n", "one\ntwo", "one\nthree", "one  \nthree\n"},
		{"trailing blanks stay after a change", "one  \ntwo\n", "one\ntwo", "three\ntwo", "three  \ntwo\n"},
		{"trailing blanks of the quote", "one\ntwo\n", "one  \ntwo", "one  \nthree", "one\nthree\n"},
		{"two blanks", "a  b c", "a b c", "a b d", "a  b d"},
		{"quotes and a no-break space", "\u201ca\u201d\u00a0b", "\"a\" b", "\"a\" c", "\u201ca\u201d\u00a0c"},
		{"zero width", "a\u200bb c", "ab c", "ab d", "a\u200bb d"},
		{"CRLF", "a\u00a0b\r\nc\r\n", "a b\nc", "a b\nx\ny", "a\u00a0b\r\nx\r\ny\r\n"},
		{"all of it", "a\u00a0b c", "a b", "x", "x c"},
		{"removed", "one\ntwo\u00a0x\nthree\n", "two x", "", "one\nthree\n"},
		{"insertion at the end", "a\u00a0b", "a b", "a b c", "a\u00a0b c"},
		{"insertion at the beginning", "a\u00a0b", "a b", "c a b", "c a\u00a0b"},
		{"the space itself", "a\u00a0b", "a b", "a-b", "a-b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if found := Find(tt.doc, tt.old); found != nil {
				t.Fatalf("found exactly at %v", found)
			}
			near := FindNear(tt.doc, tt.old)
			if len(near) != 1 {
				t.Fatalf("found %v", near)
			}
			if got := diffwrap.Apply(tt.doc, Replace(tt.doc, near, tt.old, tt.new)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range [][2]string{{"a b", "a c"}, {"ab", "a b"}, {"a\nb", "a b"}, {"a b", " \n"}, {"- x", "    - x"}, {"", "a"}} {
		if near := FindNear(tt[0], tt[1]); near != nil {
			t.Errorf("%q is near %q at %v", tt[1], tt[0], near)
		}
	}
	if near := FindNear("a\u00a0b a\tb", "a b"); len(near) != 2 {
		t.Errorf("found %v", near)
	}
}

// A near edit reads as one of the quoted text, whatever blanks, quotes and characters there are, and never cuts one.
func TestReplaceNearProperties(t *testing.T) {
	alphabet := []rune("ab \t\u00a0\n\"\u201c\u0301é\u200b")
	randomtest.Check(t, 3000, func(t testing.TB, r *rand.Rand) {
		doc := string(randomtest.Some(r, 0, 20, alphabet...))
		old, with := string(randomtest.Some(r, 1, 6, alphabet...)), string(randomtest.Some(r, 1, 6, alphabet...))
		for _, p := range FindNear(doc, old) {
			now := diffwrap.Apply(doc, Replace(doc, []Range{p}, old, with))
			if !utf8.ValidString(now) || now[:p.Start] != doc[:p.Start] {
				t.Fatalf("%q for %q in %q: %q", with, old, doc, now)
			}
			changed := now[p.Start : len(now)-len(doc)+p.End]
			if got, want := foldText(changed).text, foldText(with).text; got != want {
				t.Fatalf("%q for %q in %q gives %q: %q, want %q", with, old, doc, now, got, want)
			}
		}
	})
}

func TestNearest(t *testing.T) {
	doc := "First.\n\nThe tea is cold by now.\nThe tea is hot and sweet.\n"
	for quote, want := range map[string]string{
		"The coffee is cold by now.":             `The nearest is line 3, which has "tea" instead of "coffee": "The tea is cold by now.".`,
		"First.\n\nThe tea is very cold by now.": `The nearest is line 3, which lacks "very ": "The tea is cold by now.".`,
		"The tea is hot sweet.":                  `The nearest is line 4, which additionally has "and ": "The tea is hot and sweet.".`,
		"Entirely other words":                   "",
		"First.\nThe tea is cold by now.":        "",
		" \n":                                    "",
	} {
		if got := Nearest(doc, quote); got != want {
			t.Errorf("%q: %s, want %s", quote, got, want)
		}
	}
}
