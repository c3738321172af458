package diffwrap

import (
	"flag"
	"testing"
)

var ratios = flag.Bool("diffwrap.ratios", false, "measure Put against a scan of the text and against a plain word diff")

// TestRatios holds the speed of Put to multiples of other work in the same run, so that the result does not depend on the
// machine. It is not part of a plain test run, which may share its processors.
func TestRatios(t *testing.T) {
	if !*ratios {
		t.Skip("measures; run with -diffwrap.ratios")
	}
	note, small := prose(1<<20, 1, "w"), prose(100<<10, 1, "w")
	edited, rewritten := scattered(note, 20), prose(100<<10, 2, "v")
	marked := Apply(note, must(Put(note, edited)))
	put := func(raw, accepted string) func() {
		return func() { must(Put(raw, accepted)) }
	}
	withKnown := Options{Known: Known{}.MarksOf(marked)}
	plain := func(old, new string) func() {
		return func() { plainWordDiff(old, new) }
	}
	braces := 0
	scanning := func(s string) func() {
		return func() { braces += scan(s) }
	}
	for _, tc := range []struct {
		name      string
		put, than func()
		limit     float64
	}{
		{"unchanged note, than one scan", put(note, string([]byte(note))), scanning(note), 2},
		{"unchanged note with known marks, than one scan", func() {
			if r, err := withKnown.Put(marked, edited); err != nil || r.Edits != nil {
				t.Fatal(r.Edits, err)
			}
		}, scanning(marked), 2},
		{"unchanged note with typed marks, which count outside of code, than one scan", put(marked, edited), scanning(marked), 12},
		{"20 scattered edits in 1 MB, than plain words", put(note, edited), plain(note, edited), 0.2},
		{"rewrite of 100 KB, than plain words", put(small, rewritten), plain(small, rewritten), 0.1},
	} {
		a, b := perCall(tc.put), perCall(tc.than)
		t.Logf("%s: %.0f µs, %.0f µs, %.3fx", tc.name, a/1e3, b/1e3, a/b)
		if a > tc.limit*b {
			t.Errorf("%s: %.3fx, want at most %gx", tc.name, a/b, tc.limit)
		}
	}
}

// perCall returns the nanoseconds that a call of f takes.
func perCall(f func()) float64 {
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			f()
		}
	})
	return float64(r.T.Nanoseconds()) / float64(r.N)
}

// scan looks at every byte once.
func scan(s string) (braces int) {
	for i := range len(s) {
		if s[i] == '{' {
			braces++
		}
	}
	return braces
}
