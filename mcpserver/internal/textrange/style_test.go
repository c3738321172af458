package textrange

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestInBreaksOf(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		text := func() string {
			return strings.Join(randomtest.Some(r, 0, 12, "a", "é", "\U0001F600", "\n", "\r\n"), "")
		}
		base, s := text(), strings.ReplaceAll(text(), "\r\n", "\n")
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		got := inBreaksOf(text(), base, s)
		if plain(got) != s {
			t.Fatalf("%q in the breaks of %q is %q", s, base, got)
		}
		if s == plain(base) && got != base && strings.Contains(base, "\n") {
			t.Fatalf("%q comes back as %q", base, got)
		}
	})
}
