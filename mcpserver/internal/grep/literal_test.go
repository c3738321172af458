package grep

import (
	"strings"
	"testing"
)

// A literal is found where strings.Index finds it.
func FuzzLiteralIndex(f *testing.F) {
	f.Add("the tide turns at six", "turns")
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "aab")
	f.Add("灯台と灯", "灯")
	f.Add("x", "")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, text, lit string) {
		if got, want := newLiteral(lit).index(text), strings.Index(text, lit); got != want {
			t.Errorf("%q is at %d of %q, want %d", lit, got, text, want)
		}
	})
}
