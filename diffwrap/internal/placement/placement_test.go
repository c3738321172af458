package placement

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
	"github.com/relayfs/relayfs/tests/randomtest"
)

var blocks = []string{
	"One two three.", "One two four.", "Text. ^id", "# T", "## T", "T\n===", "---", "- a\n- b", "- a\n- b\n- c", "1. a", "> q", "> [!tip] T", "> [!tip] T\n> a",
	"| a |\n|---|\n| 1 |", "| a |\n|---|\n| 1 |\n| 2 |", "```\na\n```", "```\nb\n\nc\n```", "$$\na\n$$", "%%\na\n%%", "<div>\na\n</div>", "[a]: b", "[^1]: a", "{>>c<<}",
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

// randomText makes a text of a few blocks.
func randomText(r *rand.Rand, breaks string) string {
	var list []string
	for range r.IntN(6) {
		list = append(list, pick(r, blocks...))
	}
	text := strings.Join(list, pick(r, "\n\n", "\n\n", "\n")) + pick(r, "", "\n")
	return strings.ReplaceAll(text, "\n", breaks)
}

func side(text string) align.Side {
	s := align.Side{Text: text}
	for at := 0; ; {
		n := strings.Index(text[at:], "{>>c<<}")
		if n < 0 {
			return s
		}
		s.Comments = append(s.Comments, span.New(at+n, at+n+len("{>>c<<}")))
		at += n + 1
	}
}

// Hunks that were moved and widened still turn one text into the other, cut no comment and no line break, and break no more of the
// page than before.
func TestHunks(t *testing.T) {
	// The texts before the heading are equally long, so that a stretch after it may be taken for one that holds the hunk before it.
	checkHunks(t, "```\r\nb\r\n\r\nc\r\n```\r\n## T\r\nOne two three.\r\nOne two three.", "One two three.\r\n\r\n## T\r\n")
	// What the lines prefer breaks the list.
	checkHunks(t, "One two three.\n\nOne two three.\n\n<div>\na\n</div>\n\nOne two three.\n\n- a\n- b", "```\na\n```\n\n- a\n- b")
	randomtest.Check(t, 10_000, func(t testing.TB, r *rand.Rand) {
		breaks := pick(r, "\n", "\n", "\r\n")
		checkHunks(t, randomText(r, breaks), randomText(r, breaks))
	})
}

func checkHunks(t testing.TB, oldText, newText string) {
	t.Helper()
	old, new := side(oldText), side(newText)
	hunks := (&align.Comparer{}).Readable(old, new, false, nil)
	p := newLayout(old, new, false)
	before := p.cost(p.reshaped(slices.Clone(hunks)))
	placed := Hunks(old, new, false, slices.Clone(hunks))
	at := align.Hunk{}
	end := align.Hunk{Old: span.New(len(old.Text), len(old.Text)), New: span.New(len(new.Text), len(new.Text))}
	for _, h := range append(placed, end) {
		if h.Old.Start < at.Old.End || h.New.Start < at.New.End || old.Text[at.Old.End:h.Old.Start] != new.Text[at.New.End:h.New.Start] {
			t.Fatalf("%v of %q and %q: between %v and %v the texts differ", placed, old.Text, new.Text, at, h)
		}
		if p.cuts(h) {
			t.Fatalf("%v of %q and %q: %v cuts a line break or a comment", placed, old.Text, new.Text, h)
		}
		at = h
	}
	if after := p.cost(placed); after.brokenConstructs > before.brokenConstructs {
		t.Fatalf("%v of %q and %q break %d blocks, and %v %d", hunks, old.Text, new.Text, before.brokenConstructs, placed, after.brokenConstructs)
	}
}
