package markdown

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// plainToken is a shortcut: what it takes is what the rules say.
func TestPlainTokenAgrees(t *testing.T) {
	pieces := []string{
		"word", "a", "7", "3.14", " ", "\t", "\n", "\r\n", "'", "\u2019", "_", ".", ",", ":", "://", "-", "/", "#tag", "[[x]]", "`c`",
		"e\u0301", "\u0301", "\u200d", "é", "漢字", "😀", "{{", "}}", "$x$", "*", "\\", "&amp;", "^id",
	}
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		text := strings.Join(randomtest.Some(r, 1, 12, pieces...), "")
		for i := range text {
			got, ok := plainToken(text, i)
			if !ok {
				continue
			}
			want := tokenAlone(text, i, 0, nil)
			want.End = clusterBorder(text, want)
			if got != want {
				t.Fatalf("at %d of %q: %v, want %v", i, text, got, want)
			}
		}
	})
}
