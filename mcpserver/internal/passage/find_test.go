package passage

import (
	"math/rand/v2"
	"slices"
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
		want     []Place
	}{
		{"aXbX", "X", []Place{{Start: 1, End: 2}, {Start: 3, End: 4}}},
		{"aaa", "aa", []Place{{Start: 0, End: 2}, {Start: 1, End: 3}}},
		{"ééé", "é", []Place{{Start: 0, End: 2}, {Start: 2, End: 4}, {Start: 4, End: 6}}},
		{"abc", "", nil},
		{"“x” “x”", `"x"`, []Place{{Start: 0, End: 7}, {Start: 8, End: 15}}},
	} {
		if got := Find(tt.doc, tt.old); !slices.Equal(got, tt.want) {
			t.Errorf("Find(%q, %q) = %v, want %v", tt.doc, tt.old, got, tt.want)
		}
	}
	if got := Apart([]Place{{Start: 0, End: 2}, {Start: 1, End: 3}, {Start: 2, End: 4}}); !slices.Equal(got, []Place{{Start: 0, End: 2}, {Start: 2, End: 4}}) {
		t.Errorf("apart = %v", got)
	}
}

// Whatever is found, the text there is what was looked for, but for quotes and
// line breaks, and cuts no character. What is there without cutting a CRLF is found.
func TestFindAllProperties(t *testing.T) {
	alphabet := []rune("ab'\"‘’“”\r\né👩")
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		doc, old := string(randomtest.Some(r, 0, 20, alphabet...)), string(randomtest.Some(r, 0, 4, alphabet...))
		wantPlain, _ := plainForm(old, true)
		for _, p := range Find(doc, old) {
			found := doc[p.Start:p.End]
			if plain, _ := plainForm(found, true); plain != wantPlain {
				t.Fatalf("found %q for %q in %q", found, old, doc)
			}
			if !utf8.ValidString(doc[:p.Start]) || !utf8.ValidString(found) {
				t.Fatalf("%q is cut out of %q", found, doc)
			}
		}
		whole := slices.ContainsFunc(findExact(doc, old, nil), func(p Place) bool { return !cutsBreak(doc, p) })
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

func TestNearly(t *testing.T) {
	doc := "First.\n\nCaf\u00e9 au lait\u00a0please,\n\ttwo  cups.\n"
	for quote, want := range map[string]int{
		"Cafe\u0301 au lait please":          3,
		"au lait please,\n    two cups.\n\n": 3,
		"two cups":                           4,
		"two\u200b cups":                     4,
		"three cups":                         0,
		" \n":                                0,
		"First.\nCaf\u00e9":                  1,
	} {
		if got := Nearly(doc, quote); got != want {
			t.Errorf("%q is nearly on line %d, want %d", quote, got, want)
		}
	}
}
