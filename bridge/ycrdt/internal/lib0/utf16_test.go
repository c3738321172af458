package lib0

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestCodeUnits compares the counting of units with package unicode/utf16.
func TestCodeUnits(t *testing.T) {
	alphabet := []string{"a", "é", "日", "😀", "\uFFFD", "plain text "}
	randomtest.Check(t, 3000, func(t testing.TB, r *rand.Rand) {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		s := b.String()
		units := utf16.Encode([]rune(s))
		if got := UTF16Len([]byte(s)); got != len(units) {
			t.Fatalf("Len(%q) = %d, want %d", s, got, len(units))
		}
		for pos := range len(units) + 1 {
			cut := pos > 0 && pos < len(units) && utf16.IsSurrogate(rune(units[pos])) && units[pos] >= 0xdc00
			whole := pos
			if cut {
				whole--
			}
			want := len(string(utf16.Decode(units[:whole])))
			if off, inside := UTF16Offset([]byte(s), pos); off != want || inside != cut {
				t.Fatalf("Offset(%q, %d) = %d, %v, want %d, %v", s, pos, off, inside, want, cut)
			}
		}
	})
}
