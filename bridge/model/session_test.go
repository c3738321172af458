package model_test

import (
	"math/rand/v2"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// What passes is one line that people see as it is: no control, no direction, no separator but the space.
func TestIsLine(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		s, most := "", r.IntN(21)
		for range r.IntN(12) {
			s += string(r.Int32N(1 + randomtest.Pick[rune](r, 0x7f, 0x2fff, unicode.MaxRune)))
		}
		want := utf8.RuneCountInString(s) <= most
		for _, r := range s {
			want = want && (r == ' ' || !unicode.In(r, unicode.C, unicode.Z) && unicode.IsGraphic(r))
		}
		if got := model.IsLine(s, most); got != want {
			t.Fatalf("%q within %d: %v, want %v", s, most, got, want)
		}
	})
	for _, s := range []string{"\xff", "a\nb", "\x1b[31m", "\u202e", "\u2028", "\u200d"} {
		if model.IsLine(s, 20) {
			t.Errorf("%q passes", s)
		}
	}
}
