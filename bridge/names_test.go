package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// deadly is a source on which a process stands still forever before it takes a file away: it was killed there.
type deadly struct {
	*bridgetest.Source
	reached chan struct{}
}

func (s *deadly) Retract(context.Context, string, model.Stamp) error {
	close(s.reached)
	select {}
}

// A process is killed after it has rejected a new note, and before the note is gone. The next one takes it away; a note
// that a user has made or saved there stays.
func TestNewNoteThatWasRejectedIsGoneAfterAKill(t *testing.T) {
	for name, what := range map[string]func(bridgetest.Person){
		"nothing":   func(bridgetest.Person) {},
		"saved":     func(p bridgetest.Person) { p.Save("Plan.md", "typed\n") },
		"made anew": func(p bridgetest.Person) { p.Remove("Plan.md"); p.Save("Plan.md", "") },
	} {
		t.Run(name, func(t *testing.T) {
			src, store := &deadly{bridgetest.NewSource(t), make(chan struct{})}, bridgetest.NewStore(t)
			ws := process(t, src, store)
			if _, err := ws.Create(t.Context(), plan, bridge.Write{Text: "new\n\nmore\n", By: ann}); err != nil {
				t.Fatal(err)
			}
			list := ids(pendingOf(t, ws))
			go ws.Decide(context.Background(), list, model.Rejected, person)
			select {
			case <-src.reached:
			case <-time.After(10 * time.Second):
				t.Fatal("the process did not come to its end")
			}
			what(src.Source.Person(t))
			ws = process(t, src.Source, store)
			_, err := ws.Stat(t.Context(), plan)
			if deleted := errors.Is(err, fs.ErrNotExist); deleted != (name == "nothing") {
				t.Errorf("after the kill: %v, there are %q", err, src.Source.Person(t).Names())
			}
			if name == "nothing" {
				undo(t, ws, "")
				if v := open(t, ws, plan); v.Text() != "new\n\nmore\n" {
					t.Errorf("undone: %q", v.Raw())
				}
			}
		})
	}
}

// The undo of an exchange of names gives both notes their names back, whichever of the two it names, and so does that of its
// rejection. Nothing is left at a third name.
func TestUndoOfAnExchange(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		for _, which := range []int{-1, 0, 1} {
			f := bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/B.md": "b\n"})
			if err := f.Exchange(t.Context(), "Notes/A.md", "Notes/B.md", bridge.ChangeRequest{Author: ann}); err != nil {
				t.Fatal(err)
			}
			list, err := f.Proposals(t.Context(), "")
			if err != nil || len(list) != 2 {
				t.Fatalf("%+v, %v", list, err)
			}
			decide(t, f.Workspace, verdict, list[0].ID, list[1].ID)
			var one []string
			if which >= 0 {
				one = []string{list[which].ID}
			}
			out, err := f.Undo(t.Context(), "", person, one...)
			if err != nil || len(out.Failed) > 0 {
				t.Fatalf("%v: undo of %d: %v, %v", verdict, which, out.Failed, err)
			}
			if a, b := f.SourceText("Notes/A.md"), f.SourceText("Notes/B.md"); a != "a\n" || b != "b\n" {
				t.Errorf("%v: after the undo of %d the vault has %q in A and %q in B", verdict, which, a, b)
			}
			if a, b := open(t, f.Workspace, "Notes/A.md").Text(), open(t, f.Workspace, "Notes/B.md").Text(); a != "b\n" || b != "a\n" {
				t.Errorf("%v: after the undo of %d programs see %q in A and %q in B", verdict, which, a, b)
			}
			if got := f.Proposed(); len(got) != 2 {
				t.Errorf("%v: after the undo of %d %q waits", verdict, which, got)
			}
			if got := f.Source("Notes").Person(t).Names(); !slices.Equal(got, []string{"A.md", "B.md"}) {
				t.Errorf("the vault holds %q", got)
			}
			decide(t, f.Workspace, model.Rejected, list[0].ID, list[1].ID)
			if a := open(t, f.Workspace, "Notes/A.md").Text(); a != "a\n" {
				t.Errorf("after a rejection A is %q", a)
			}
		}
	}
}

// Whoever makes a note whose path differs from another's in case alone is warned. A rename to such a path is logged.
func TestNeighboursInCase(t *testing.T) {
	var log bytes.Buffer
	f := bridgetest.New(t, map[string]string{"Notes/Foo.md": "a\n", "Notes/Other.md": "b\n", "Notes/Sub/x.md": "x\n"},
		func(o *bridge.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	warned := func(what, warnings string, err error, want bool) {
		t.Helper()
		if err != nil || strings.Contains(warnings, "only in case") != want {
			t.Errorf("%s: warnings %q, %v, want %v", what, warnings, err, want)
		}
	}
	create := func(p model.Path, want bool) {
		t.Helper()
		res, err := f.Create(t.Context(), p, bridge.Write{Text: "c\n", By: ann})
		warned("create "+string(p), strings.Join(res.Warnings, "\n"), err, want)
	}
	rename := func(from, to model.Path, want bool) {
		t.Helper()
		log.Reset()
		_, err := f.Workspace.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: ann})
		warned("rename to "+string(to), log.String(), err, want)
	}
	create("Notes/foo.md", true)
	create("Notes/foo2.md", false)
	create("Notes/Sub/foo.md", false)
	rename("Notes/Other.md", "Notes/FOO.md", true)
	rename("Notes/Foo.md", "Notes/Bar.md", false)
	rename("Notes/Bar.md", "Notes/BAR.md", false) // its own name
}

// A user takes the name that a note is proposed to have. The proposal says so and waits, also if it was rejected and that is
// taken back. It is shown and can be accepted once the name is free, and can be rejected at any time.
func TestNameOfAProposalIsTaken(t *testing.T) {
	const taken = "Notes/Other.md"
	f := bridgetest.New(t, map[string]string{plan: "one\n", "Notes/Home.md": "See [[Plan]].\n"})
	res, err := f.Workspace.Rename(t.Context(), plan, taken, bridge.ChangeRequest{Author: ann})
	if err != nil {
		t.Fatal(err)
	}
	waits := func(isTaken bool) {
		t.Helper()
		list, err := f.Proposals(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].ID != res.Proposal || list[0].Path != plan || list[0].NewPath != taken || list[0].Taken != isTaken {
			t.Fatalf("proposals %+v, %v, want the rename, its name taken: %v", list, err, isTaken)
		}
		shown := model.Path(taken)
		if isTaken {
			shown = plan
		}
		if got := open(t, f.Workspace, shown).Text(); got != "one\n" {
			t.Errorf("%s shows %q", shown, got)
		}
	}
	waits(false)
	f.Person(taken, "a person's\n")
	waits(true)
	for range 2 { // the second time it was rejected before
		out, err := f.Decide(t.Context(), []string{res.Proposal}, model.Accepted, person)
		if err != nil || !errors.Is(out.Failed[plan], model.ErrNameTaken) {
			t.Errorf("accepted while the name is taken: %+v, %v", out, err)
		}
		waits(true)
		decide(t, f.Workspace, model.Rejected, res.Proposal)
		if got := f.SourceText("Notes/Home.md"); got != "See [[Plan]].\n" {
			t.Errorf("rejected: the link is %q", got)
		}
		if out, err := f.Undo(t.Context(), "", person); err != nil || len(out.Failed) > 0 {
			t.Fatalf("undo while the name is taken: %+v, %v", out, err)
		}
		waits(true)
	}
	f.Delete(taken)
	waits(false)
	decide(t, f.Workspace, model.Accepted, res.Proposal)
	if got := f.SourceText(taken); got != "one\n" {
		t.Errorf("accepted: %q", got)
	}
	if got := f.SourceText("Notes/Home.md"); got != "See [[Other]].\n" {
		t.Errorf("accepted: the link is %q", got)
	}
}

// Where a rename waits for a name that another note gets meanwhile, both notes are shown, each at one path.
func TestNameThatARenameWaitsForGoesToAnother(t *testing.T) {
	rename := func(t *testing.T, f *bridgetest.Fixture, from, to model.Path) string {
		res, err := f.Workspace.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: ann, Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		return res.Proposal
	}
	shows := func(t *testing.T, f *bridgetest.Fixture, want map[model.Path]string) {
		t.Helper()
		for p, text := range want {
			if got := open(t, f.Workspace, p).Text(); got != text {
				t.Errorf("%s shows %q, want %q", p, got, text)
			}
		}
	}
	t.Run("both rejected, and taken back", func(t *testing.T) {
		f := bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/B.md": "b\n"})
		rename(t, f, "Notes/B.md", "Notes/X.md")
		f.Person("Notes/X.md", "a person's\n")
		rename(t, f, "Notes/A.md", "Notes/X.md")
		want := map[model.Path]string{"Notes/B.md": "b\n", "Notes/X.md": "a\n"}
		shows(t, f, want)
		list, err := f.Proposals(t.Context(), "")
		if err != nil || len(list) != 3 {
			t.Fatalf("proposals %+v, %v", list, err)
		}
		decide(t, f.Workspace, model.Rejected, list[0].ID, list[1].ID, list[2].ID)
		shows(t, f, map[model.Path]string{"Notes/A.md": "a\n", "Notes/B.md": "b\n", "Notes/X.md": "a person's\n"})
		undo(t, f.Workspace, "")
		shows(t, f, want)
	})
	t.Run("moved over an own note", func(t *testing.T) {
		f := bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/B.md": "b\n", "Notes/d/C.md": "c\n"})
		rename(t, f, "Notes/B.md", "Notes/d/X.md")
		f.Source("Notes").Person(t).Remove("d")
		if err := f.Source("Notes").Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Create(t.Context(), "Notes/d/X.md", bridge.Write{Text: "own\n", By: ann}); err != nil {
			t.Fatal(err)
		}
		rename(t, f, "Notes/A.md", "Notes/d/X.md")
		shows(t, f, map[model.Path]string{"Notes/B.md": "b\n", "Notes/d/X.md": "a\n"})
	})
	t.Run("deleted", func(t *testing.T) {
		f := bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/B.md": "b\n", "Notes/C.md": "c\n"})
		rename(t, f, "Notes/A.md", "Notes/Y.md")
		rename(t, f, "Notes/B.md", "Notes/X.md")
		f.Person("Notes/X.md", "a person's\n")
		f.Person("Notes/Y.md", "a person's\n")
		if _, err := f.Remove(t.Context(), "Notes/X.md", bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
		shows(t, f, map[model.Path]string{"Notes/A.md": "a\n", "Notes/X.md": "b\n"})
	})
}

// A user takes the name that something is proposed to have, and relayfs has not seen it yet. An acceptance says so, changes
// nothing, and the proposal can be decided on: also rejected, or accepted when the name is free again.
func TestNameOfAProposalIsTakenUnseen(t *testing.T) {
	const taken = "Notes/Other.md"
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		ws := process(t, src, store)
		res, err := ws.Rename(t.Context(), plan, taken, bridge.ChangeRequest{Author: ann})
		if err != nil {
			t.Fatal(err)
		}
		src.Person(t).Save("Other.md", "a person's\n")
		out, err := ws.Decide(t.Context(), []string{res.Proposal}, model.Accepted, person)
		if err != nil || len(out.Failed) != 1 || len(out.Proposals) != 0 {
			t.Fatalf("accepted while the name is taken: %+v, %v", out, err)
		}
		for _, err := range out.Failed {
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("it fails with %v, want %v", err, fs.ErrExist)
			}
		}
		if list, err := ws.Proposals(t.Context(), ""); err != nil || len(list) != 1 {
			t.Fatalf("after the failure %+v, %v", list, err)
		}
		mustSay(t, src, "Other.md", "a person's\n")
		src.Person(t).Remove("Other.md")
		decide(t, ws, verdict, res.Proposal)
		mustSay(t, src, map[model.Verdict]string{model.Accepted: "Other.md", model.Rejected: "Plan.md"}[verdict], "one\n")
	}
}

// What was decided about notes in folders is taken back where the folders are now: also if these have changed places by one
// decision, and if that was taken back.
func TestUndoFollowsFolders(t *testing.T) {
	ways := map[string][][2]model.Path{
		"moved":             {{"Notes/a", "Notes/x"}},
		"exchanged":         {{"Notes/a", "Notes/x"}, {"Notes/b", "Notes/a"}, {"Notes/x", "Notes/b"}},
		"with an empty one": {{"Notes/a", "Notes/x"}, {"Notes/e", "Notes/a"}, {"Notes/x", "Notes/e"}},
		"in a circle":       {{"Notes/a", "Notes/x"}, {"Notes/b", "Notes/a"}, {"Notes/c", "Notes/b"}, {"Notes/x", "Notes/c"}},
		"into one another":  {{"Notes/a", "Notes/x"}, {"Notes/b", "Notes/a"}, {"Notes/x", "Notes/a/b"}},
	}
	for name, way := range ways {
		for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
			for undone := range 3 { // how often the moves are taken back, and accepted again in between
				files, place := make(map[string]string), make(map[string]model.Path)
				for _, d := range []string{"a", "b", "c"} {
					place[d] = model.Path("Notes/" + d)
					files["Notes/"+d+"/one.md"] = d
				}
				f := bridgetest.New(t, files)
				if err := f.Mkdir(t.Context(), "Notes/e", bridge.ChangeRequest{Author: ann}); err != nil {
					t.Fatal(err)
				}
				moveTo(t, f.Workspace, "Notes/a/one.md", "Notes/a/two.md")
				first := decideAll(t, f.Workspace, verdict)
				for _, m := range way {
					moveTo(t, f.Workspace, m[0], m[1])
				}
				decideAll(t, f.Workspace, model.Accepted)
				for i := range undone {
					if i > 0 {
						decideAll(t, f.Workspace, model.Accepted)
					}
					undo(t, f.Workspace, "")
				}
				for _, m := range way {
					for d, at := range place {
						place[d] = model.Path(model.Rebased(string(at), string(m[0]), string(m[1])))
					}
				}
				if out, err := f.Undo(t.Context(), first.Batch, person); err != nil || len(out.Failed) > 0 {
					t.Fatalf("%s, %s, undone %d times: %v, %v", name, verdict, undone, out.Failed, err)
				}
				for d, at := range place {
					shown := at.Join("one.md")
					if d == "a" {
						shown = at.Join("two.md")
					}
					if got := open(t, f.Workspace, shown).Text(); got != d {
						t.Errorf("%s, %s, undone %d times: %s shows %q, want %q", name, verdict, undone, shown, got, d)
					}
					if undone > 0 {
						at = model.Path("Notes/" + d)
					}
					if got := f.SourceText(string(at.Join("one.md"))); got != d {
						t.Errorf("%s, %s, undone %d times: %s holds %q, want %q", name, verdict, undone, at.Join("one.md"), got, d)
					}
				}
			}
		}
	}
}

// Where a folder is to go back to, an empty one gives way. One with something in it does not.
func TestUndoWhereAFolderWasMade(t *testing.T) {
	for _, empty := range []bool{true, false} {
		f := bridgetest.New(t, map[string]string{"Notes/d/one.md": "one\n"})
		moveTo(t, f.Workspace, "Notes/d", "Notes/e")
		decideAll(t, f.Workspace, model.Accepted)
		if err := f.Mkdir(t.Context(), "Notes/d", bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
		if !empty {
			f.Person("Notes/d/two.md", "a person's\n")
		}
		out, err := f.Undo(t.Context(), "", person)
		if err != nil || (len(out.Failed) == 0) != empty {
			t.Errorf("the folder is empty: %v; the undo fails with %v, %v", empty, out.Failed, err)
		}
		want := map[bool]string{true: "Notes/d/one.md", false: "Notes/e/one.md"}[empty]
		if got := f.SourceText(want); got != "one\n" {
			t.Errorf("the folder is empty: %v; %s holds %q", empty, want, got)
		}
	}
}

// Where a folder cannot go back, as another one has its name, what was decided together with it on a note in it is not taken back in the
// other one.
func TestUndoStaysInItsFolder(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/d/x.md": "own\n", "Notes/h/y.md": "another's\n"})
	moveTo(t, f.Workspace, "Notes/d/x.md", "Notes/d/y.md")
	moveTo(t, f.Workspace, "Notes/d", "Notes/f")
	first := decideAll(t, f.Workspace, model.Accepted)
	moveTo(t, f.Workspace, "Notes/h", "Notes/d")
	decideAll(t, f.Workspace, model.Accepted)
	if out, err := f.Undo(t.Context(), first.Batch, person); err != nil || len(out.Failed) != 2 || out.Notes != 0 {
		t.Errorf("%d taken back, %v, %v", out.Notes, out.Failed, err)
	}
	for at, want := range map[string]string{"Notes/d/y.md": "another's\n", "Notes/f/y.md": "own\n"} {
		if got := f.SourceText(at); got != want {
			t.Errorf("%s holds %q, want %q", at, got, want)
		}
	}
	undo(t, f.Workspace, "")
	undo(t, f.Workspace, first.Batch)
	for at, want := range map[string]string{"Notes/h/y.md": "another's\n", "Notes/d/x.md": "own\n"} {
		if got := f.SourceText(at); got != want {
			t.Errorf("taken back in order, %s holds %q, want %q", at, got, want)
		}
	}
}

// The change of a file is taken back wherever the file is by then.
func TestUndoOfAFileThatWasRenamed(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.csv": "x\n"})
	moveTo(t, f.Workspace, "Notes/a.csv", "Notes/b.csv")
	renamed := decideAll(t, f.Workspace, model.Accepted)
	if _, err := f.WriteFile(t.Context(), "Notes/b.csv", []byte("y\n"), bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	changed := decideAll(t, f.Workspace, model.Accepted)
	undo(t, f.Workspace, renamed.Batch)
	undo(t, f.Workspace, changed.Batch)
	if got := f.SourceText("Notes/a.csv"); got != "x\n" {
		t.Errorf("taken back: %q", got)
	}
}
