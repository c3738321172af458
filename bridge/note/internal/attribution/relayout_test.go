package attribution

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestLayOutLike changes the text and the facts of random notes, and draws the layout of each again from the layout
// before the change: it is the layout that is drawn from the whole text.
func TestLayOutLike(t *testing.T) {
	table := NewTable(replacements(1))
	agent, other := &Writer{author: "agent", agent: true, order: 1}, &Writer{author: "other", agent: true, order: 2}
	syntax := []*Fact{{By: agent, Syntax: true}, {By: other, Syntax: true}}
	one, two := &Suggestion{ID: "1", Writer: agent}, &Suggestion{ID: "2", Writer: other}
	texts := []*Fact{&noFact, {By: agent, Ins: Atom{Of: one}}, {By: other, Ins: Atom{Of: two}}, {Dels: []Atom{{Of: one}}}, {Ins: Atom{Of: one, Status: Accepted}}}
	parts := 0
	randomtest.Check(t, 20_000, func(t testing.TB, rng *rand.Rand) {
		pick := func(list []*Fact) *Fact { return list[rng.IntN(len(list))] }
		type piece struct {
			text string
			fact *Fact
		}
		mark := func(open, close string, of *Fact) []piece {
			delimiter := pick(syntax)
			if rng.IntN(30) == 0 {
				delimiter = pick(texts)
			}
			return []piece{{open, delimiter}, {"b é"[:1+rng.IntN(2)], of}, {close, delimiter}}
		}
		pieces := func(n int) (list []piece) {
			for range rng.IntN(n) {
				switch rng.IntN(6) {
				case 0:
					list = append(list, mark("{++", "++}", pick(texts))...)
				case 1:
					list = append(list, mark("{--", "--}", pick(texts))...)
				case 2:
					list = append(list, mark("{>>", "<<}", pick(texts))...)
				default:
					list = append(list, piece{[]string{"a", "\n", "é 😀\n", "c\n"}[rng.IntN(4)], &noFact})
				}
			}
			return list
		}
		draw := func(list []piece, former *Layout) (x, like *Layout, part diffwrap.Span) {
			var b strings.Builder
			var u Units
			pos := 0
			for _, p := range list {
				b.WriteString(p.text)
				pos = u.add(pos, ycrdt.Run{ID: ycrdt.ID{Client: 1, Clock: uint64(pos)}, Len: textmerge.UTF16Len(p.text)}, p.fact)
			}
			known := Known(b.String(), u)
			like, part = table.layOutLike(former, b.String(), known, u)
			return table.LayOut(b.String(), known, u), like, part
		}
		before := pieces(40)
		x, _, _ := draw(before, nil)
		from := rng.IntN(len(before) + 1)
		after := append(append([]piece{}, before[:from]...), pieces(4)...)
		after = append(after, before[from+rng.IntN(min(len(before)-from, 4)+1):]...)
		if len(after) > 0 && rng.IntN(3) == 0 {
			after[rng.IntN(len(after))].fact = pick(texts)
		}
		want, got, part := draw(after, x)
		if part.Len() < len(want.Raw) {
			parts++
		}
		want.lastRun, got.lastRun = 0, 0
		for _, y := range []*Layout{want, got} { // an empty list may be nil
			for _, list := range []any{&y.Marks, &y.Text, &y.Syntax, &y.MarkOwners, &y.TextOffsets, &y.markOffsets} {
				if v := reflect.ValueOf(list).Elem(); v.Len() == 0 {
					v.SetZero()
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q becomes %q, drawn again in %v:\n%+v\n%+v", x.Raw, want.Raw, part, got, want)
		}
		if edits, _ := table.CanonicalEdits(x.Raw, x.Known, x.Units, nil); len(edits) == 0 {
			raw := want.Raw
			want, _ := table.CanonicalEdits(raw, want.Known, want.Units, nil)
			if got, _ := table.CanonicalEdits(got.Raw, got.Known, got.Units, x); !slices.Equal(got, want) {
				t.Fatalf("after %q, the edits of %q are %v, want %v", x.Raw, raw, got, want)
			}
		}
	})
	t.Logf("%d layouts were drawn in part", parts)
	if parts == 0 {
		t.Error("every layout was drawn from the whole text")
	}
}
