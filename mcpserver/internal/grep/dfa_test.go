package grep

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// The automaton says of every text what package regexp says, and ends at the
// first place where a match ends.
func TestAutomatonAgainstRegexp(t *testing.T) {
	alphabet := []rune("aAbkK\u212a_ ß\n1é")
	atoms := []string{"a", "b", "K", "ß", ".", "[ab]", "[^a]", `\w`, `\W`, `\b`, `\B`, "^", "$", `\n`, "é", `\d`, `\pL`, " ", "a*", "(a|b)", "b+?", "k{2}", "(?s:.)"}
	text := func(rnd *rand.Rand) string {
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteRune(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	randomtest.Check(t, 3000, func(t testing.TB, rnd *rand.Rand) {
		pattern := ""
		for range 1 + rnd.IntN(4) {
			pattern += atoms[rnd.IntN(len(atoms))] + []string{"", "", "", "*", "|"}[rnd.IntN(5)]
		}
		flags := syntax.Perl &^ syntax.OneLine
		if rnd.IntN(2) == 0 {
			flags |= syntax.FoldCase
		}
		tree, err := syntax.Parse(pattern, flags)
		if err != nil {
			return // a repetition of a repetition
		}
		re := regexp.MustCompile(tree.String())
		a := newAutomaton(compiled(t, tree))
		if a == nil {
			t.Fatalf("no automaton for %q", pattern)
		}
		for range 5 {
			s := text(rnd)
			if strings.Contains(strings.ToLower(pattern), `\b`) && strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
				continue // borders of words are Unicode's here, and ASCII's in package regexp
			}
			off, ok := a.find(s)
			if !ok || off >= 0 != re.MatchString(s) {
				t.Fatalf("%q (%q) in %q: %d, %v", pattern, tree, s, off, ok)
			}
		}
	})
}

func compiled(t testing.TB, tree *syntax.Regexp) *syntax.Prog {
	t.Helper()
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

func TestAutomatonFindsTheFirstEnd(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          int
	}{
		{"b", "aab\nb", 3},
		{"b|ab", "xabb", 3},
		{"$", "ab\n", 2},
		{"^b", "ab\nb", 4},
		{"x", "", -1},
		{"", "", 0},
		{`\bü`, "xü", -1}, // \b is Unicode's
		{`\bü`, "x ü", 4},
	} {
		tree, err := syntax.Parse(tt.pattern, syntax.Perl&^syntax.OneLine)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := newAutomaton(compiled(t, tree)).find(tt.text); got != tt.want || !ok {
			t.Errorf("%q in %q: %d, %v, want %d", tt.pattern, tt.text, got, ok, tt.want)
		}
	}
}

// Patterns that need very many states, or that the automaton does not know, are
// decided by package regexp.
func TestAutomatonGivesWay(t *testing.T) {
	for _, pattern := range []string{`\Afoo`, `foo\z`, "(a|b)*a(a|b){14}c"} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(6, 6))
		var b strings.Builder
		for range 20_000 {
			b.WriteByte("ab"[rnd.IntN(2)])
		}
		text := "foo\n" + b.String() + "\nx" + strings.Repeat("a", 16) + "c"
		if !p.Matches(text) && pattern != `foo\z` {
			t.Errorf("%q finds nothing", pattern)
		}
	}
}

func BenchmarkAutomaton(b *testing.B) {
	text := strings.Repeat("some words of a line that goes on for a while, as lines do.\n", 100)
	for _, pattern := range []string{"[aeiou]{3,}[xyz]", `[^a-z\s]{4}$`, `\w+\s+\d`} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Count(text, false)
			}
		})
	}
}
