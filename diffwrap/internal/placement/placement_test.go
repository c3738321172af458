package placement

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

var blocks = []string{
	"One two three.", "One two four.", "Text. ^id", "# T", "## T", "T\n===", "---", "- a\n- b", "- a\n- b\n- c", "1. a", "> q", "> [!tip] T", "> [!tip] T\n> a",
	"| a |\n|---|\n| 1 |", "| a |\n|---|\n| 1 |\n| 2 |", "```\na\n```", "```\nb\n\nc\n```", "$$\na\n$$", "%%\na\n%%", "<div>\na\n</div>", "[a]: b", "[^1]: a", "{>>c<<}",
}

// drawText makes a text of a few blocks.
func drawText(t *rapid.T, breaks string) string {
	list := rapid.SliceOfN(rapid.SampledFrom(blocks), 0, 5).Draw(t, "blocks")
	text := strings.Join(list, rapid.SampledFrom([]string{"\n\n", "\n\n", "\n"}).Draw(t, "between")) + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
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
	rapid.Check(t, func(t *rapid.T) {
		breaks := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "breaks")
		old, new := side(drawText(t, breaks)), side(drawText(t, breaks))
		hunks := align.Readable(old, new, false, nil)
		p := newPage(old, new, hunks)
		before := p.cost(p.reshaped(slices.Clone(hunks)))
		placed := Hunks(old, new, slices.Clone(hunks))
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
		if after := p.cost(placed); after.broken > before.broken {
			t.Fatalf("%v of %q and %q break %d blocks, and %v %d", hunks, old.Text, new.Text, before.broken, placed, after.broken)
		}
	})
}
