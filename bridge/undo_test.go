package bridge_test

import (
	"fmt"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
)

// The links of a rename are decided on with it, also after an undo brought both
// back, in whatever order.
func TestLinksStayWithARenameOverUndo(t *testing.T) {
	const c, c2, links = "Notes/c.md", "Notes/c2.md", "Notes/f.md"
	for _, restart := range []bool{false, true} {
		for order := range 1 << 3 {
			src, store := new(bridgetest.Source), new(bridgetest.Store)
			src.Person(t).Save("c.md", "c\n")
			src.Person(t).Save("f.md", "f [[c]] end\n")
			ws := process(t, src, store)
			write(t, ws, links, bridge.Write{Text: "f [[c]] END\n", By: ann})
			moveTo(t, ws, c, c2)
			const marked = "f {--[[c]]--}{++[[c2]]++} {--end--}{++END++}\n"
			want := map[bridge.Verdict]string{
				bridge.Accepted: "f [[c2]] {--end--}{++END++}\n",
				bridge.Rejected: "f [[c]] {--end--}{++END++}\n",
			}
			for i := range 3 {
				verdict := bridge.Accepted
				if order>>i&1 == 1 {
					verdict = bridge.Rejected
				}
				when := fmt.Sprintf("restart %v, order %03b, %s at %d", restart, order, verdict, i)
				if got := src.Person(t).Content("f.md"); got != marked {
					t.Fatalf("%s: before it %q, want %q", when, got, marked)
				}
				decideAll(t, ws, verdict)
				if got := src.Person(t).Content("f.md"); got != want[verdict] {
					t.Fatalf("%s: %q, want %q", when, got, want[verdict])
				}
				undo(t, ws, "")
				if restart {
					ws = process(t, src, store)
				}
			}
		}
	}
}

// What one undo puts back of several authors, and of a rename, is each one's again.
func TestUndoKeepsWhoseEachSuggestionWas(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/c.md": "c\n", plan: "one [[c]] two\nthree\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE [[c]] two\nthree\n", By: ann})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE [[c]] two\nTHREE\n", By: bridge.Author{Name: "bob", Session: "s2"}})
	moveTo(t, f.Workspace, "Notes/c.md", "Notes/c2.md")
	before := pendingOf(t, f.Workspace)
	proposals, err := f.Proposals(t.Context(), "")
	if err != nil || len(proposals) != 1 || len(before) != 3 || before[1].Proposal != proposals[0].ID {
		t.Fatalf("%+v, %v, pending %+v", proposals, err, before)
	}
	for _, verdict := range []bridge.Verdict{bridge.Rejected, bridge.Accepted} {
		decide(t, f.Workspace, verdict, append(ids(pendingOf(t, f.Workspace)), proposals[0].ID)...)
		undo(t, f.Workspace, "")
		after := pendingOf(t, f.Workspace)
		if len(after) != len(before) {
			t.Fatalf("%s and undone: %+v", verdict, after)
		}
		for i, s := range after {
			if b := before[i]; s.Author != b.Author || s.Session != b.Session || s.Proposal != b.Proposal || s.New != b.New {
				t.Errorf("%s and undone: %+v, want %+v", verdict, s, b)
			}
		}
	}
	decideAll(t, f.Workspace, bridge.Rejected)
	if got, want := f.SourceText(plan), "{--one--}{++ONE++} [[c]] two\n{--three--}{++THREE++}\n"; got != want {
		t.Errorf("after the rename was rejected: %q, want %q", got, want)
	}
}
