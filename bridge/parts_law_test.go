package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A decision and an undo read and change only a part of a long note. The result is the same as if they had read all of it:
// the lists, the views and the marks are those of a process that starts now.
func TestAPartOfANoteIsLikeTheWhole(t *testing.T) {
	randomtest.Check(t, 60, func(t testing.TB, r *rand.Rand) {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", strings.Repeat("one two three\n\n\U0001f642 four five\n", 12))
		ws := process(t, src, store)
		const note = "Notes/Plan.md"
		write := func() {
			_, err := ws.Update(t.Context(), note, []model.Author{agent, {Name: "other", Session: "o"}}[r.IntN(2)], nil, func(v *model.Version) (string, error) {
				lines := strings.SplitAfter(v.Text(), "\n")
				for range 1 + r.IntN(4) {
					i := r.IntN(len(lines))
					lines[i] = []string{
						strings.Replace(lines[i], "two", "2", 1), "", lines[i] + "new\nline\n", strings.Replace(lines[i], "five", "five{>>why?<<}", 1),
						strings.Replace(lines[i], "four", "\U0001f643\n4", 1), strings.Replace(lines[i], "one", "", 1), strings.ToUpper(lines[i]),
					}[r.IntN(7)]
				}
				return strings.Join(lines, ""), nil
			})
			if err != nil && !errors.Is(err, model.ErrRefused) { // it touches the other agent's suggestion
				t.Fatal(err)
			}
		}
		state := func() (list []model.Suggestion, all string) {
			list, err := ws.Suggestions(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			v, err := ws.Open(t.Context(), note)
			if err != nil {
				t.Fatal(err)
			}
			return list, fmt.Sprintf("%q\n%q\n%v %v", v.Text(), v.Canonical(), v.RawKnown().MarksOf(v.Raw()).Offsets(), v.Known().MarksOf(v.Canonical()).Offsets())
		}
		var batches []string
		for range 12 {
			if write(); r.IntN(3) == 0 {
				continue
			}
			for range 1 + r.IntN(3) {
				list, _ := state()
				if len(list) == 0 {
					break
				}
				i := r.IntN(len(list))
				var ids []string
				for _, s := range list[i:min(len(list), i+1+r.IntN(2))] {
					ids = append(ids, s.ID)
				}
				out, err := ws.Decide(t.Context(), ids, []model.Verdict{model.Accepted, model.Rejected}[r.IntN(2)], person)
				if err != nil {
					t.Fatal(err)
				}
				batches = append(batches, out.Batch)
			}
			for len(batches) > 0 && r.IntN(2) == 0 {
				i := r.IntN(len(batches))
				out, err := ws.Undo(t.Context(), batches[i], person)
				batches = slices.Delete(batches, i, i+1)
				if err != nil {
					continue
				}
				list, _ := state()
				for _, s := range out.Decided {
					if !slices.ContainsFunc(list, func(x model.Suggestion) bool { x.Gap = 0; return reflect.DeepEqual(x, s) }) {
						t.Fatalf("the undo says\n%+v\nbut the list is\n%+v", s, list)
					}
				}
			}
			list, all := state()
			ws = process(t, src, store)
			if fresh, now := state(); all != now || !reflect.DeepEqual(list, fresh) {
				t.Fatalf("the running process says\n%s\n%+v\none that starts now\n%s\n%+v", all, list, now, fresh)
			}
		}
	})
}
