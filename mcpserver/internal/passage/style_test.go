package passage

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInBreaksOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "\U0001F600", "\n", "\r\n"}))
		base := strings.Join(text.Draw(t, "base"), "")
		s := strings.ReplaceAll(strings.Join(text.Draw(t, "s"), ""), "\r\n", "\n")
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		got := inBreaksOf(base, s, rapid.Bool().Draw(t, "crlf"))
		if plain(got) != s {
			t.Fatalf("%q in the breaks of %q is %q", s, base, got)
		}
		if s == plain(base) && got != base && strings.Contains(base, "\n") {
			t.Fatalf("%q comes back as %q", base, got)
		}
	})
}
