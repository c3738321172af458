package model_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge/model"
)

// What passes is one line that people see as it is: no control, no direction, no separator but the space.
func TestIsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 20).Draw(t, "most")
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
