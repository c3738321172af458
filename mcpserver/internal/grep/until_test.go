package grep

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Matches are those that package regexp finds in one go, and empty ones at the ends of others.
func TestEachIn(t *testing.T) {
	patterns := []string{`a`, `a*`, `a|b*`, `^a`, `a$`, `^`, `$`, `\b`, `\bab?`, `\Ba`, `a.*b|a`, `(a)(b)?`, `é|a`, `[^a]`, `\Aa`, `a\z`, `b*?`, `(?i)AB`, `\n`, `a\nb*`, ``}
	alphabet := []string{"a", "b", "é", "\n", " ", "\xff", "👩"}
	randomtest.Check(t, 3000, func(t testing.TB, rnd *rand.Rand) {
		expr := patterns[rnd.IntN(len(patterns))]
		p, err := Compile(expr, Options{Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		text := b.String()
		want := p.re.FindAllStringIndex(text, -1)
		for _, size := range []int{p.size, maxUnbroken + 1} { // at once, and rune by rune
			p.size = size
			var got [][]int
			end := -1
			p.eachIn(text, func(m []int) bool {
				if m[0] < m[1] || m[0] != end {
					got = append(got, m)
				}
				end = m[1]
				return true
			})
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%q in %q: %v, want %v", expr, text, got, want)
			}
		}
	})
}

// A search ends soon after it is not wanted any more, however long the text.
func TestUntil(t *testing.T) {
	for _, expr := range []string{`.{1000}.{1000}x`, `(a.*b)+?c|.{900}z`, `(?:a.*z|a)`} {
		for _, multi := range []bool{false, true} {
			p, err := Compile(expr, Options{Multiline: multi})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			time.AfterFunc(50*time.Millisecond, func() { close(done) })
			start := time.Now()
			p.Until(done).Entries("p", strings.Repeat("ab", 4<<20), Format{OnlyMatching: true}, -1)
			if took := time.Since(start); took > need.Scaled(10*time.Second) {
				t.Errorf("%s: ends after %v", expr, took)
			}
		}
	}
}

func TestLargePattern(t *testing.T) {
	if _, err := Compile(strings.Repeat(`\pL{1000}`, 40), Options{}); err == nil {
		t.Error("is compiled")
	}
}
