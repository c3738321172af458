package bridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

func idsOf(list []model.Suggestion) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return ids
}

// Of equal suggestions each keeps its own id, whatever becomes of the others, of
// the text around them and of the process; a decided one's is nobody's again.
func TestEqualSuggestionsKeepTheirIDs(t *testing.T) {
	const marked = "- {--a--}{++b++}\n"
	tests := []struct {
		name string
		make func(t *testing.T, src *bridgetest.Source, store *bridgetest.Store)
	}{
		{"a person's, in a note without a document", func(t *testing.T, src *bridgetest.Source, _ *bridgetest.Store) {
			src.Person(t).Save("Plan.md", "😀\n"+strings.Repeat(marked, 4))
		}},
		{"an agent's, each from a process of its own", func(t *testing.T, src *bridgetest.Source, store *bridgetest.Store) {
			src.Person(t).Save("Plan.md", "😀\n"+strings.Repeat("- a\n", 4))
			for i := range 4 {
				text := "😀\n" + strings.Repeat("- b\n", i+1) + strings.Repeat("- a\n", 3-i)
				ws := process(t, src, store)
				write(t, ws, plan, bridge.Write{Text: text, By: agent})
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			tt.make(t, src, store)
			ids := idsOf(pendingOf(t, process(t, src, store)))
			if n := len(slices.Compact(slices.Sorted(slices.Values(ids)))); n != 4 {
				t.Fatalf("four suggestions have the ids %q", ids)
			}
			ws := process(t, src, store)
			for i, next := range []int{1, 0, 3} {
				for range 2 { // the second time there is nothing to decide on
					if _, err := ws.Decide(t.Context(), ids[next:next+1], model.Accepted, model.Author{Name: "pat"}); err != nil {
						t.Fatal(err)
					}
				}
				src.Person(t).Save("Plan.md", "more\n"+src.Person(t).Content("Plan.md"))
				left := idsOf(pendingOf(t, process(t, src, store)))
				if len(left) != 3-i || slices.ContainsFunc(left, func(id string) bool { return !slices.Contains(ids, id) }) || slices.Contains(left, ids[next]) {
					t.Fatalf("of %q, after a decision on %q, %q are left", ids, ids[next], left)
				}
				ws = process(t, src, store)
			}
		})
	}
}

// A mark of a user's that the user has emptied is text: the suggestion that deletes it stays the same one when the agent
// writes elsewhere.
func TestSuggestionBesideAnEmptiedMarkKeepsItsID(t *testing.T) {
	for _, live := range []bool{false, true} {
		d := newDesk(t, "a b{++x++} c\n", live)
		types("{++x++}", "{++++}")(d)
		agentWrites("ann", "a c\n")(d)
		says("a {--b{+--}{--+++} --}c\n")(d)
		before := pendingOf(t, d.f.Workspace)
		agentWrites("ann", "a c\n\nmore\n")(d)
		after := pendingOf(t, d.f.Workspace)
		if len(before) == 0 || len(after) == 0 || after[0].ID != before[0].ID || !after[0].Time.Equal(before[0].Time) {
			t.Errorf("live %v: %+v was %+v", live, after, before)
		}
	}
}
