package markdown

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainToken is a shortcut: what it takes is what the rules say.
func TestPlainTokenAgrees(t *testing.T) {
	pieces := []string{
		"word", "a", "7", "3.14", " ", "\t", "\n", "\r\n", "'", "\u2019", "_", ".", ",", ":", "://", "-", "/", "#tag", "[[x]]", "`c`",
		"e\u0301", "\u0301", "\u200d", "é", "漢字", "😀", "{{", "}}", "$x$", "*", "\\", "&amp;", "^id",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
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
