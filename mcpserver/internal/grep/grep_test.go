package grep_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
)

const sample = "alpha\nbeta foo\nfoo bar foo\n\ngamma\ndelta Foo\n"

// printed are the lines that p finds in text.
func printed(p *grep.Pattern, path, text string, f grep.Format) (lines []string) {
	for _, e := range p.Entries(path, text, f, -1) {
		lines = append(lines, e.Text)
	}
	return lines
}

func TestPrint(t *testing.T) {
	for _, tt := range []struct {
		name, pattern string
		o             grep.Options
		f             grep.Format
		want          []string
	}{
		{"literal", "foo", grep.Options{}, grep.Format{LineNumbers: true}, []string{"p:2:beta foo", "p:3:foo bar foo"}},
		{"no numbers", "foo", grep.Options{}, grep.Format{}, []string{"p:beta foo", "p:foo bar foo"}},
		{"folded", "foo", grep.Options{IgnoreCase: true}, grep.Format{LineNumbers: true},
			[]string{"p:2:beta foo", "p:3:foo bar foo", "p:6:delta Foo"}},
		{"context", "gamma|alpha", grep.Options{}, grep.Format{LineNumbers: true, Before: 1, After: 1},
			[]string{"p:1:alpha", "p-2-beta foo", "--", "p-4-", "p:5:gamma", "p-6-delta Foo"}},
		{"context that meets", "alpha|^$", grep.Options{}, grep.Format{LineNumbers: true, After: 2},
			[]string{"p:1:alpha", "p-2-beta foo", "p-3-foo bar foo", "p:4:", "p-5-gamma", "p-6-delta Foo"}},
		{"only matching", "[fb]o*", grep.Options{}, grep.Format{LineNumbers: true, OnlyMatching: true},
			[]string{"p:2:b", "p:2:foo", "p:3:foo", "p:3:b", "p:3:foo"}},
		{"multiline", "foo\nfoo|a\nb", grep.Options{Multiline: true}, grep.Format{LineNumbers: true, After: 1},
			[]string{"p:1:alpha", "p:2:beta foo", "p:3:foo bar foo", "p-4-"}},
		{"multiline parts", "foo\nfoo|a\nb", grep.Options{Multiline: true}, grep.Format{LineNumbers: true, OnlyMatching: true},
			[]string{"p:1:a", "p:2:b", "p:2:foo", "p:3:foo"}},
		{"no context of the end", "^$", grep.Options{Multiline: true}, grep.Format{LineNumbers: true, Before: 1},
			[]string{"p-3-foo bar foo", "p:4:"}},
		{"cut", "^delta", grep.Options{}, grep.Format{MaxLine: 4}, []string{"p:delt... [line cut, 9 bytes]"}},
		{"nothing", "zeta", grep.Options{}, grep.Format{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := grep.Compile(tt.pattern, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := printed(p, "p", sample, tt.f); !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			if got := p.Matches(sample); got != (tt.want != nil) {
				t.Errorf("Matches = %v", got)
			}
		})
	}
}

func TestPrintMaxStopsEarly(t *testing.T) {
	p, err := grep.Compile("x", grep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x\n", 1000)
	if got := p.Entries("p", text, grep.Format{}, 10); len(got) < 10 || len(got) > 20 {
		t.Errorf("printed %d lines", len(got))
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		o       grep.Options
		each    bool
		want    int
	}{
		{"foo", grep.Options{}, false, 2},
		{"foo", grep.Options{}, true, 3},
		{"foo", grep.Options{Multiline: true}, false, 2},
		{"foo|a\nb", grep.Options{Multiline: true}, false, 4},
		{"^$", grep.Options{}, false, 1},
		{".*", grep.Options{}, false, 6},
	} {
		p, err := grep.Compile(tt.pattern, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Count(sample, tt.each); got != tt.want {
			t.Errorf("Count(%q, %v, %v) = %d, want %d", tt.pattern, tt.o, tt.each, got, tt.want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, pattern := range []string{`a\nb`, "a\nb", `(a|b\n)`} {
		if _, err := grep.Compile(pattern, grep.Options{}); !errors.Is(err, grep.ErrLineBreak) {
			t.Errorf("Compile(%q) = %v, want ErrLineBreak", pattern, err)
		}
		if _, err := grep.Compile(pattern, grep.Options{Multiline: true}); err != nil {
			t.Errorf("Compile(%q) in multiline mode: %v", pattern, err)
		}
	}
	for pattern, want := range map[string]string{
		"a(b": "regex parse error:\n    a(b\n    ^^^\nerror: missing closing )",
		`ä\q`: "regex parse error:\n    ä\\q\n     ^^\nerror: invalid escape sequence",
		"a**": "regex parse error:\n    a**\n     ^^\nerror: invalid nested repetition operator",
	} {
		_, err := grep.Compile(pattern, grep.Options{})
		var se *grep.SyntaxError
		if !errors.As(err, &se) || se.Error() != want {
			t.Errorf("Compile(%q):\n%v\nwant\n%s", pattern, err, want)
		}
	}
}

func TestClauses(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		fold    bool
		want    [][]string
	}{
		{"foo", false, [][]string{{"foo"}}},
		{"FOO", true, [][]string{{"FOO"}}},
		{"foo|bar", false, [][]string{{"foo", "bar"}}},
		{"foo(bar|baz)?qux", false, [][]string{{"foo"}, {"qux"}}},
		{"foo(bar|baz)qux", false, [][]string{{"foobarqux", "foobazqux"}}},
		{"foo.*bar", false, [][]string{{"foo"}, {"bar"}}},
		{`\bfoo\b`, false, [][]string{{"foo"}}},
		{"(?:foo)+x", false, [][]string{{"foo"}, {"x"}}},
		{"a|.", false, nil},
		{"(foo)*", false, nil},
		{"[ab]c", false, [][]string{{"ac", "bc"}}},
		{"[a-z]c", false, [][]string{{"c"}}},
		{"foo.*|barx", false, [][]string{{"foo", "barx"}}},
		{"K", true, [][]string{{"K"}}},
		{"foo|foobar", false, [][]string{{"foo", "foobar"}}},
		{"x*", false, nil},
	} {
		p, err := grep.Compile(tt.pattern, grep.Options{IgnoreCase: tt.fold})
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, c := range p.Clauses() {
			got = append(got, slices.Sorted(slices.Values(c)))
		}
		for _, w := range tt.want {
			slices.Sort(w)
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal[[]string]) {
			t.Errorf("Clauses(%q) = %q, want %q", tt.pattern, got, tt.want)
		}
	}
}

// Runes whose other case has another length in UTF-8, or is in another script's
// block, are found in either case.
func TestFolding(t *testing.T) {
	for _, tt := range [][2]string{
		{"k", "\u212a elvin"}, {"\u212aelvin", "kelvin"}, {"strasse", "STRA\u017fSE"}, {"ÄÖÜ", "äöü"},
		{"σ", "ς"}, {"ⱥ", "\u023a"},
	} {
		p, err := grep.Compile(tt[0], grep.Options{IgnoreCase: true})
		if err != nil {
			t.Fatal(err)
		}
		if text := "x\nSOME " + tt[1] + " text\n"; !p.Matches(text) {
			t.Errorf("%q does not match %q", tt[0], text)
		}
	}
}
