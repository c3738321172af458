package index

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

type textAt struct {
	path model.Path
	text string
}

// A list of values has what a map from paths would have, whatever changed, and is sorted by path. So has the list of the
// values with a term.
func TestValuesFollowChanges(t *testing.T) {
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		next, ok := "", true
		x := &values[textAt]{
			of: func(_ context.Context, p model.Path, _ *model.Version) (textAt, bool, error) {
				return textAt{p, next}, ok, nil
			},
			at:     func(v textAt) model.Path { return v.path },
			moved:  func(v textAt, p model.Path) textAt { return textAt{p, v.text + " " + string(p)} },
			terms:  func(v textAt) []string { return append(strings.Split(v.text, ""), "") },
			byTerm: make(map[string][]textAt),
		}
		want := make(map[model.Path]textAt)
		notes := []model.Path{"a.md", "d.md", "d/a.md", "d/b.md", "d/e/a.md", "d-1/a.md", "d0.md", "d /a.md", "e/a.md"}
		places := append(slices.Clone(notes), "d", "d/e", "d-1", "e", "f", "f.md", "")
		for range 1 + r.IntN(30) {
			p := notes[r.IntN(len(notes))]
			switch r.IntN(4) {
			case 0:
				from, to := places[r.IntN(len(places)-1)], model.Path("f")
				if model.KindOf(from.Base(), false) == model.KindNote {
					to = "f.md"
				}
				x.rename(from, to)
				for q, v := range maps.Collect(maps.All(want)) {
					if from.Contains(q) {
						delete(want, q)
						want[to+q[len(from):]] = x.moved(v, to+q[len(from):])
					}
				}
			case 1:
				p = places[r.IntN(len(places))]
				x.remove(p)
				maps.DeleteFunc(want, func(q model.Path, _ textAt) bool { return p.Contains(q) })
			default:
				next, ok = strconv.Itoa(r.IntN(100)), r.IntN(5) > 0
				if err := x.set(t.Context(), p, nil); err != nil {
					t.Fatal(err)
				}
				if want[p] = (textAt{p, next}); !ok {
					delete(want, p)
				}
			}
			for _, under := range places {
				var list []textAt
				for _, q := range slices.Sorted(maps.Keys(want)) {
					if under.Contains(q) {
						list = append(list, want[q])
					}
				}
				if got := x.below(under); !slices.Equal(got, list) {
					t.Fatalf("below %q: %q, want %q", under, got, list)
				}
				term := string(rune('0' + r.IntN(10)))
				list = slices.DeleteFunc(list, func(v textAt) bool { return !strings.Contains(v.text, term) })
				if got := x.below(under, []string{term}); !slices.Equal(got, list) {
					t.Fatalf("with %q below %q: %q, want %q", term, under, got, list)
				}
				either := randomtest.Some(r, 0, 3, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
				lacks := func(v textAt) bool { return !strings.ContainsAny(v.text, strings.Join(either, "")) }
				list = slices.DeleteFunc(list, lacks)
				got := slices.DeleteFunc(x.below(under, []string{term}, either), lacks)
				got = slices.DeleteFunc(got, func(v textAt) bool { return !strings.Contains(v.text, term) })
				if !slices.Equal(got, list) {
					t.Fatalf("with %q and one of %q below %q: %q, want %q", term, either, under, got, list)
				}
			}
		}
	})
}
