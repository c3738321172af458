package bridge_test

import (
	"fmt"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// addDecisions adds n decisions on other notes to the journal.
func addDecisions(t testing.TB, s model.Store, n int) {
	t.Helper()
	for i := range n {
		d := &model.Decision{Batch: model.NewBatch(), Verdict: model.Accepted, Items: []model.DecidedItem{{ID: fmt.Sprintf("%010x", i), Old: "some text"}}}
		if _, err := s.Append(model.DocID(fmt.Sprint(i%100)), "", model.Record{Update: model.EmptyUpdate(), Decision: d}); err != nil {
			t.Fatal(err)
		}
	}
}

type countedJournal struct {
	model.Store
	read *int // number of the entries that were read
}

func (s countedJournal) Journal(limit int) ([]model.JournalEntry, error) {
	list, err := s.Store.Journal(limit)
	*s.read += len(list)
	return list, err
}

// An undo reads the entries since the decision, however many older ones there are.
func TestUndoReadsTheNewestEntries(t *testing.T) {
	read := 0
	s := countedJournal{bridgetest.NewStore(t), &read}
	f := bridgetest.New(t, map[string]string{plan: "some {--words--} here\n"}, func(o *bridge.Options) { o.Roots[0].Store = s })
	addDecisions(t, s, 2000)
	for _, since := range []int{0, 10, 100} {
		for how, undo := range map[string]func(batch, id string) (bridge.Outcome, error){
			"batch":  func(batch, _ string) (bridge.Outcome, error) { return f.Undo(t.Context(), batch, person) },
			"item":   func(_, id string) (bridge.Outcome, error) { return f.Undo(t.Context(), "", person, id) },
			"newest": func(string, string) (bridge.Outcome, error) { return f.Undo(t.Context(), "", person) },
		} {
			if how == "newest" && since > 0 {
				continue
			}
			t.Run(fmt.Sprint(how, since), func(t *testing.T) {
				list, err := f.Suggestions(t.Context(), plan)
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				decided, err := f.Decide(t.Context(), []string{list[0].ID}, model.Accepted, person)
				if err != nil {
					t.Fatal(err)
				}
				addDecisions(t, s, since)
				read = 0
				if out, err := undo(decided.Batch, list[0].ID); err != nil || len(out.Decided) != 1 {
					t.Fatal(out, err)
				}
				if most := 8 * (since + 10); read > most {
					t.Errorf("read %d entries, want at most %d", read, most)
				}
			})
		}
	}
}

// An undo follows a folder that an undo since has moved back, however old the undone move is.
func TestUndoFollowsTheUndoOfAnOldMove(t *testing.T) {
	s := bridgetest.NewStore(t)
	f := bridgetest.New(t, map[string]string{"Notes/F/x.md": "x\n", "Notes/F/y.md": "y\n"}, func(o *bridge.Options) { o.Roots[0].Store = s })
	accept := func(change bridge.ChangeResult, err error) bridge.Outcome {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return decide(t, f.Workspace, model.Accepted, change.Proposal)
	}
	moved := accept(f.Workspace.Rename(t.Context(), "Notes/F", "Notes/G", bridge.ChangeRequest{Author: ann}))
	addDecisions(t, s, 50)
	removed := accept(f.Workspace.Remove(t.Context(), "Notes/G/x.md", bridge.ChangeRequest{Author: ann}))
	undo(t, f.Workspace, moved.Batch)
	undo(t, f.Workspace, removed.Batch)
	if got, want := fmt.Sprint(f.Source("Notes").Person(t).Names()), "[F F/x.md F/y.md]"; got != want {
		t.Errorf("the vault has %s, want %s", got, want)
	}
}
