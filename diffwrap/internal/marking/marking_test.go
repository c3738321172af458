package marking

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
	"github.com/relayfs/relayfs/tests/randomtest"
)

var pieces = []string{
	"One two.", "a", "b {", "b {", "# T", "- a", "```", "\n", "\n", "\r\n", "\r\n", "\n\n", "{--a--}", "{++b++}", "{--a\nb--}{++c++}",
	`{++{"author":"Bob"}@@bob++}`, `{--{"author":"Bob"}@@bob--}`, "{>>c<<}", "{==a==}",
}

// drawPatch makes a change of a text with marks.
func drawPatch(r *rand.Rand) *Patch {
	list := randomtest.Some(r, 0, 14, pieces...)
	doc := critic.Parse(strings.Join(list, ""), critic.Everything)
	old := doc.Render(critic.AcceptedView)
	from := randomtest.Between(r, 0, len(old))
	to := randomtest.Between(r, from, min(len(old), from+20))
	written := strings.Join(randomtest.Some(r, 0, 3, pieces[:12]...), "")
	own := func(c *critic.Cell) bool { return c.IsSuggestion() && c.By().Author == "" }
	owners := make(map[int]critic.Owner)
	if r.IntN(2) == 0 {
		for _, c := range doc.Cells {
			owners[c.Start] = critic.Owner{Access: critic.Waiting}
		}
	}
	return &Patch{Doc: doc, Old: old, New: old[:from] + written + old[to:], Own: own, Owners: owners}
}

// Regions are sorted and apart, each change lies in one, and what lies between them is the same in both texts. None ends within a
// line break.
func TestRegions(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		p := drawPatch(r)
		hunks, wall := p.Compare()
		if wall != nil {
			return
		}
		regions := p.regions(hunks)
		raw, view, written := 0, 0, 0
		end := place{off: len(p.Doc.Raw), view: len(p.Old)}
		for _, r := range append(regions, region{from: end, to: end, new: span.New(len(p.New), len(p.New))}) {
			if r.from.off < raw || r.new.Start < written || p.Old[view:r.from.view] != p.New[written:r.new.Start] {
				t.Fatalf("%q to %q: the region %v comes after %d, %d, %d", p.Doc.Raw, p.New, r, raw, view, written)
			}
			for _, at := range []int{r.from.off, r.to.off} {
				if strings.HasSuffix(p.Doc.Raw[:at], "\r") && strings.HasPrefix(p.Doc.Raw[at:], "\n") {
					t.Fatalf("%q to %q: the region %v ends within a line break", p.Doc.Raw, p.New, r)
				}
			}
			for len(hunks) > 0 && hunks[0].Old.End <= r.to.view && hunks[0].New.End <= r.new.End {
				if hunks[0].Old.Start < r.from.view || hunks[0].New.Start < r.new.Start {
					t.Fatalf("%q to %q: %v reaches out of the region %v", p.Doc.Raw, p.New, hunks[0], r)
				}
				hunks = hunks[1:]
			}
			raw, view, written = r.to.off, r.to.view, r.new.End
		}
		if len(hunks) > 0 {
			t.Fatalf("%q to %q: %v lie in no region", p.Doc.Raw, p.New, hunks)
		}
	})
}

// Hunks are closed without another meaning: they still turn one text into the other, and none but the last leaves a run open.
func TestCloseEnds(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		p := drawPatch(r)
		old, new := align.Side{Text: p.Old}, align.Side{Text: p.New}
		hunks := closeEnds(old, new, (&align.Comparer{}).Readable(old, new, false, nil))
		at := align.Hunk{}
		for _, h := range append(hunks, align.Hunk{Old: span.New(len(p.Old), len(p.Old)), New: span.New(len(p.New), len(p.New))}) {
			if h.Old.Start < at.Old.End || h.New.Start < at.New.End || p.Old[at.Old.End:h.Old.Start] != p.New[at.New.End:h.New.Start] {
				t.Fatalf("%v of %q and %q: between %v and %v the texts differ", hunks, p.Old, p.New, at, h)
			}
			if endsOpen(at, p.Old, p.New) && at.Old.End < len(p.Old) {
				t.Fatalf("%v of %q and %q: %v ends open", hunks, p.Old, p.New, at)
			}
			at = h
		}
	})
}
