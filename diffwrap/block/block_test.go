package block

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// tests/render compares the blocks of some thousand notes with those of markdown-it. Here are the laws that hold for any text.

var pieces = []string{
	"word", "# T", "## ", "---", "***", "===", "```", "~~~js", "````", "> ", ">", "> [!tip] A", "- ", "* a", "1. ", "2) b", "    ", "\t", "  ", "$$", "$$x$$", "%%", "%% c %%",
	"<div>", "</div>", "<!--", "-->", "<pre>", "</pre>", "<a>", "<?", "[a]: b", "[a]:", "[^1]: n", "| a | b |", "|---|---|", "a | b", "- | -", "{++", "++}", "{--", "--}",
	"\n", "\n", "\n", "\n\n", "\r\n", "\r", "é", "漢字", "\u00a0",
}

// Blocks are whole lines in order, no line of a block is in another one, and what lies between them is blank.
func TestScanCovers(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		text := strings.Join(randomtest.Some(r, 0, 60, pieces...), "")
		at := 0
		for _, b := range Scan(text) {
			if b.Start < at || b.End <= b.Start || b.End > len(text) {
				t.Fatalf("%q: block %v behind offset %d", text, b, at)
			}
			if strings.Trim(text[at:b.Start], " \t\r\n") != "" {
				t.Fatalf("%q: %q lies between blocks", text, text[at:b.Start])
			}
			if b.Start > 0 && text[b.Start-1] != '\n' || b.End < len(text) && text[b.End] != '\n' && !strings.HasPrefix(text[b.End:], "\r\n") {
				t.Fatalf("%q: block %q is not whole lines", text, b.Of(text))
			}
			if strings.Trim(b.Of(text), " \t\r\n") == "" {
				t.Fatalf("%q: block %v is blank", text, b)
			}
			at = b.End
		}
		if strings.Trim(text[at:], " \t\r\n") != "" {
			t.Fatalf("%q: %q is in no block", text, text[at:])
		}
	})
}

// Hostile texts cost no more than their size.
func TestScanIsLinear(t *testing.T) {
	for _, unit := range []string{
		">", "> a\nb\n", "> a\n- b\n", "- a\nb\n", "- ", "$$", "$$a\n", "%%\n", "[a]:\n", "| a\n", "| a |\n|-|\n", "<", "<div>\n", "<!--\n", "```\n", "> ```\nx\n",
		"- > ", "a\n===\n", "1.\n", "[^1]: a\nb\n", "\t", "\\|", "-\n", "* * ",
	} {
		need.Linear(t, unit, 400_000, func(n int) string { return need.Repeat(unit, n) }, func(text string) { Scan(text) })
	}
}
