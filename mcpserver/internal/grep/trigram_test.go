package grep_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func query(t testing.TB, pattern string, fold bool) grep.TrigramQuery {
	t.Helper()
	p, err := grep.Compile(pattern, grep.Options{IgnoreCase: fold})
	if err != nil {
		t.Fatal(err)
	}
	return grep.NewTrigramQuery(p.Clauses())
}

func TestMayMatch(t *testing.T) {
	var m grep.SignatureMaker
	s := m.Make("The quick brown fox\njumps over Straße, 你好 and \u212aelvin")
	for _, tt := range []struct {
		pattern string
		fold    bool
		want    bool
	}{
		{"quick", false, true},
		{"QUICK", true, true},
		{"QUICK", false, true}, // signatures know no case: the text is looked at
		{"zebra", false, false},
		{"zebra|quick", false, true},
		{"zebra|gnu.", false, false},
		{"quick.*zebra", false, false},
		{"fox\njumps", false, true},
		{"你好", false, true},
		{"straße", true, true},
		{"kelvin", true, true},
		{"ab", false, true}, // too short to tell
		{".*", false, true}, // matches anything
		{"(a|.)zebra", false, false},
		{`ju\dju`, false, false},
		{`qu\dck`, true, false},
		{"fo[u-x]", false, true},
	} {
		p, err := grep.Compile(tt.pattern, grep.Options{IgnoreCase: tt.fold, Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := grep.NewTrigramQuery(p.Clauses()).MayMatch(s); got != tt.want {
			t.Errorf("MayMatch(%q) = %v", tt.pattern, got)
		}
	}
	if empty := m.Make(""); query(t, "abc", false).MayMatch(empty) || !query(t, "a", false).MayMatch(empty) {
		t.Error("empty text")
	}
}

func TestLineBreaksMayMatch(t *testing.T) {
	var m grep.SignatureMaker
	s := m.Make("one\r\ntwo")
	for _, pattern := range []string{"one\ntwo", `e\nt`, `one\r\ntwo`, `e\r\n`} {
		p, err := grep.Compile(pattern, grep.Options{Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		if !grep.NewTrigramQuery(p.Clauses()).MayMatch(s) {
			t.Errorf("%q is ruled out", pattern)
		}
	}
}

// A text that matches is never ruled out.
func TestNoMatchIsLost(t *testing.T) {
	alphabet := []rune("abcABC ßſKäÄ你1٣\r\n")
	random := func(rnd *rand.Rand, n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	var m grep.SignatureMaker
	randomtest.Check(t, 5000, func(t testing.TB, rnd *rand.Rand) {
		text := random(rnd, rnd.IntN(60))
		pattern := random(rnd, 1+rnd.IntN(4)) + []string{"", ".*", "|", "?", "(a|b)", `\d`, "[0-9]"}[rnd.IntN(7)] + random(rnd, rnd.IntN(4))
		o := grep.Options{IgnoreCase: rnd.IntN(2) == 0, Multiline: true}
		p, err := grep.Compile(pattern, o)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if p.Matches(text) && !grep.NewTrigramQuery(p.Clauses()).MayMatch(m.Make(text)) {
			t.Fatalf("%q matches %q and is ruled out", pattern, text)
		}
	})
}

func TestSizeAndChance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	words := make([]string, 5000)
	for i := range words {
		b := make([]byte, 2+rnd.IntN(8))
		for j := range b {
			b[j] = "etaoinshrdlucmfwypvbgkqjxz"[min(rnd.IntN(26), rnd.IntN(26))]
		}
		words[i] = string(b)
	}
	var m grep.SignatureMaker
	text, size, passed := 0, 0, 0
	q := query(t, "qqzzxq", false)
	for range 300 {
		var b strings.Builder
		for b.Len() < 4096 {
			b.WriteString(words[min(rnd.IntN(5000), rnd.IntN(5000))] + " ")
		}
		s := m.Make(b.String())
		text += b.Len()
		size += s.Size()
		if q.MayMatch(s) {
			passed++
		}
	}
	if 2*size > text {
		t.Errorf("signatures of %d bytes for %d bytes of text", size, text)
	}
	if passed > 3 {
		t.Errorf("%d of 300 texts pass by chance", passed)
	}
}

func BenchmarkMake(b *testing.B) {
	var sb strings.Builder
	for i := range 700 {
		fmt.Fprintf(&sb, "word%d ", i*7919%1000)
	}
	var m grep.SignatureMaker
	b.SetBytes(int64(sb.Len()))
	for b.Loop() {
		m.Make(sb.String())
	}
}
