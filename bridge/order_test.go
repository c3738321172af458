package bridge_test

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

// Decisions and proposals in two roots keep their order if the clock is set back between them, and after a restart.
func TestOrderInSeveralRoots(t *testing.T) {
	dir := t.TempDir()
	names := []string{"A", "B"}
	sources := make(map[string]*bridgetest.Source)
	for _, name := range names {
		sources[name] = bridgetest.NewSource(t)
		sources[name].Person(t).Save("Plan.md", "one\n")
		sources[name].Person(t).Save("Old.md", "old\n")
	}
	serve := func(t *testing.T, what func(*bridge.Workspace)) {
		t.Helper()
		var o bridge.Options
		for _, name := range names {
			s, err := store.Open(filepath.Join(dir, name), store.Options{NoBackground: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			o.Roots = append(o.Roots, bridge.RootSource{Name: name, Source: sources[name].Restarted(t), Store: s})
		}
		ws, err := bridge.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := ws.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		what(ws)
	}
	acts := func(t *testing.T, ws *bridge.Workspace, root model.Path) {
		t.Helper()
		author := model.Author{Name: "ann", Session: "s1"}
		replaceIn(t, ws, root+"/Plan.md", author, "one", "ONE")
		decide(t, ws, model.Accepted, ids(pendingOf(t, ws))...)
		if err := ws.SetSessionNote(author, model.SessionNote{Name: string(root)}); err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Rename(t.Context(), root+"/Old.md", root+"/New.md", bridge.ChangeRequest{Author: author}); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, func(ws *bridge.Workspace) {
		for _, root := range []model.Path{"B", "A"} {
			acts(t, ws, root)
			if _, err := ws.Undo(t.Context(), "", person); err != nil {
				t.Fatal(err)
			}
			decide(t, ws, model.Accepted, ids(pendingOf(t, ws))...)
		}
	})
	synctest.Test(t, func(t *testing.T) { // it is the year 2000 in here
		serve(t, func(ws *bridge.Workspace) {
			if _, err := ws.Undo(t.Context(), "", person); err != nil {
				t.Fatal(err)
			}
			if a, b := sources["A"].Person(t).Content("Plan.md"), sources["B"].Person(t).Content("Plan.md"); a == "ONE\n" || b != "ONE\n" {
				t.Errorf("after the undo of the last decision: A has %q, B has %q", a, b)
			}
			replaceIn(t, ws, "B/Plan.md", ann, "ONE", "TWO")
			for _, id := range ids(pendingOf(t, ws)) { // A's is pending again
				decide(t, ws, model.Accepted, id)
			}
			if _, err := ws.Rename(t.Context(), "A/Plan.md", "A/Third.md", bridge.ChangeRequest{Author: ann}); err != nil {
				t.Fatal(err)
			}
		})
		serve(t, func(ws *bridge.Workspace) {
			list, err := ws.Journal(99)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range list {
				switch {
				case e.SessionNote != nil:
					got = append(got, "note "+e.SessionNote.Name)
				case e.Decision != nil:
					got = append(got, string(e.Decision.Verdict)+" "+e.Root)
				}
			}
			slices.Reverse(got)
			want := []string{"accepted B", "note B", "undone B", "accepted B", "accepted A", "note A", "undone A", "accepted A", "undone A", "accepted A", "accepted B"}
			if !slices.Equal(got, want) {
				t.Errorf("the journal has %q, want %q", got, want)
			}
			proposals, err := ws.Proposals(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			var paths []model.Path
			for _, p := range proposals {
				paths = append(paths, p.NewPath)
			}
			if want := []model.Path{"B/New.md", "A/New.md", "A/Third.md"}; !slices.Equal(paths, want) {
				t.Errorf("the proposals are %q, want %q", paths, want)
			}
		})
	})
}
