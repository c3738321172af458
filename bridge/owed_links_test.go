package bridge_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// stuck is a source on which the write of one note, or one rename, does not return before it is released.
type stuck struct {
	*bridgetest.Source
	rel              string // of the note
	rename           int    // number of the rename
	first            string // a note that is written before that, because a killed process must not go on with it later
	written          chan struct{}
	reached, release chan struct{}
}

func newStuck(t testing.TB, rel string) *stuck {
	return &stuck{Source: bridgetest.NewSource(t), rel: rel, written: make(chan struct{}, 9), reached: make(chan struct{}, 9), release: make(chan struct{})}
}

func (s *stuck) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if rel == s.rel {
		if s.first != "" {
			<-s.written
		}
		s.reached <- struct{}{}
		<-s.release
	}
	stamp, err := s.Source.Replace(ctx, rel, r)
	if rel == s.first && err == nil {
		s.written <- struct{}{}
	}
	return stamp, err
}

func (s *stuck) Rename(ctx context.Context, oldRel, newRel string, replace bool) error {
	if s.rename--; s.rename == 0 {
		s.reached <- struct{}{}
		<-s.release
	}
	return s.Source.Rename(ctx, oldRel, newRel, replace)
}

// killedIn runs what in a process on src that never gets past where src is stuck: it was killed there.
func killedIn(t *testing.T, src *stuck, store *bridgetest.Store, structure bridge.StructurePolicy, what func(*bridge.Workspace)) {
	t.Helper()
	ws, err := bridge.New(bridge.Options{Structure: structure, Roots: []bridge.RootSource{{Name: "Notes", Source: src, Store: store}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	go what(ws)
	select {
	case <-src.reached:
	case <-time.After(10 * time.Second):
		t.Fatal("the process did not come to its end")
	}
}

func mustSay(t *testing.T, src *bridgetest.Source, note, want string) {
	t.Helper()
	if got := src.Person(t).Content(note); got != want {
		t.Errorf("%s says %q, want %q; there are %q", note, got, want, src.Person(t).Names())
	}
}

// noneWaits checks that nothing waits, and that no link is owed.
func noneWaits(t *testing.T, ws *bridge.Workspace, store *bridgetest.Store) {
	t.Helper()
	if list := pendingOf(t, ws); len(list) > 0 {
		t.Errorf("%d suggestions wait, the first in %s: %q -> %q", len(list), list[0].Path, list[0].Old, list[0].New)
	}
	if kept, err := store.Proposals(); err != nil || len(kept) > 0 {
		t.Errorf("the store has %+v, %v", kept, err)
	}
}

// A process is killed while a link follows an accepted rename of a note, whose folder was renamed by the same decision.
func TestLinksFollowANoteAndItsFolderAfterAKill(t *testing.T) {
	src, store := newStuck(t, "B.md"), bridgetest.NewStore(t)
	for name, text := range map[string]string{"d/X.md": "x\n", "d/Keep.md": "k\n", "B.md": "---\nup: \"[[d/X]]\"\n---\nText.\n"} {
		src.Person(t).Save(name, text)
	}
	v := &linkedVault{t: t, src: src.Source, store: store}
	v.restart()
	renames := []string{v.renames(ann, "Notes/d/X.md", "Notes/d/Y.md"), v.renames(ann, "Notes/d", "Notes/e")}
	killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) {
		ws.Decide(context.Background(), renames, model.Accepted, person)
	})
	v.restart()
	v.says("restarted", "B.md", "---\nup: \"[[e/Y]]\"\n---\nText.\n")
	noneWaits(t, v.ws, store)
}

// A process is killed while links in front matter follow a rename that a user has accepted. The next one goes on.
func TestLinksInFrontMatterFollowAfterAKill(t *testing.T) {
	for _, note := range []string{"Index.md", "Last.md"} { // which of them is written when the process is killed
		src, store := newStuck(t, note), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		for _, name := range []string{"Index.md", "Last.md"} {
			src.Person(t).Save(name, "---\nup: \"[[Plan]]\"\n---\nbody\n")
		}
		ws := process(t, src.Source, store)
		res, err := ws.Rename(t.Context(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
		if err != nil {
			t.Fatal(err)
		}
		killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) {
			ws.Decide(context.Background(), []string{res.Proposal}, model.Accepted, person)
		})
		ws = process(t, src.Source, store)
		for _, name := range []string{"Index.md", "Last.md"} {
			mustSay(t, src.Source, name, "---\nup: \"[[Other]]\"\n---\nbody\n")
		}
		noneWaits(t, ws, store)
		if _, err := ws.Undo(t.Context(), "", person); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Plan.md", "Index.md", "Last.md"} {
			want := map[bool]string{true: "one\n", false: "---\nup: \"[[Plan]]\"\n---\nbody\n"}[name == "Plan.md"]
			mustSay(t, src.Source, name, want)
		}
	}
}

// A process is killed while it undoes a rename with the links in front matter that followed it. The next one completes the
// undo, of the whole batch or of the rename alone, and counts as the same undo.
func TestUndoOfARenameContinuesAfterAKill(t *testing.T) {
	for _, whole := range []bool{true, false} {
		src, store := newStuck(t, "Last.md"), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		src.Person(t).Save("Index.md", "---\nup: \"[[Plan]]\"\n---\nbody\n")
		src.Person(t).Save("Last.md", "---\nup: \"[[Plan]]\"\n---\nbody\n")
		src.Person(t).Save("Text.md", "two\n")
		ws := process(t, src.Source, store)
		replaceIn(t, ws, "Notes/Text.md", bob, "two", "TWO")
		res, err := ws.Rename(t.Context(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
		if err != nil {
			t.Fatal(err)
		}
		decide(t, ws, model.Accepted, append(ids(pendingOf(t, ws)), res.Proposal)...)
		undone := []string{res.Proposal}
		if whole {
			undone, src.first = nil, "Text.md"
		}
		killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) { ws.Undo(context.Background(), "", person, undone...) })
		ws = process(t, src.Source, store)
		for _, name := range []string{"Index.md", "Last.md"} {
			mustSay(t, src.Source, name, "---\nup: \"[[Plan]]\"\n---\nbody\n")
		}
		mustSay(t, src.Source, "Plan.md", "one\n")
		mustSay(t, src.Source, "Text.md", map[bool]string{true: "{--two--}{++TWO++}\n", false: "TWO\n"}[whole])
		list, err := ws.Proposals(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].ID != res.Proposal {
			t.Errorf("pending again are %+v, %v, want the rename", list, err)
		}
		journal, err := ws.Journal(99)
		if err != nil {
			t.Fatal(err)
		}
		batches := make(map[string]bool)
		for _, e := range journal {
			if e.Decision.Verdict == model.Undone {
				batches[e.BatchOf()] = true
			}
		}
		if len(batches) != 1 {
			t.Errorf("the journal has %d undos, want 1", len(batches))
		}
		decide(t, ws, model.Accepted, append(ids(pendingOf(t, ws)), res.Proposal)...)
		mustSay(t, src.Source, "Last.md", "---\nup: \"[[Other]]\"\n---\nbody\n")
		noneWaits(t, ws, store)
	}
}

// A process is killed while it rewrites the links to what a program has renamed. The next one rewrites the others: as
// suggestions that belong to the rename if that waits for a user, and at once if not.
func TestLinksFollowAfterAKill(t *testing.T) {
	for _, structure := range []bridge.StructurePolicy{bridge.StructurePropose, bridge.StructureDirect} {
		src, store := newStuck(t, "n2.md"), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		for i := range 5 {
			src.Person(t).Save(fmt.Sprintf("n%d.md", i), "See [[Plan]].\n")
		}
		killedIn(t, src, store, structure, func(ws *bridge.Workspace) {
			ws.Rename(context.Background(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
		})
		ws := process(t, src.Source, store)
		list, err := ws.Proposals(t.Context(), "")
		if err != nil || len(list) != map[bool]int{true: 1}[structure == bridge.StructurePropose] {
			t.Fatalf("%v: %d proposals wait, %v", structure, len(list), err)
		}
		pending := pendingOf(t, ws)
		if len(pending) != 5 {
			t.Errorf("%v: %d links wait, want 5", structure, len(pending))
		}
		if len(list) > 0 {
			for _, s := range pending {
				if s.Proposal != list[0].ID {
					t.Errorf("the link in %s belongs to proposal %q, want %q", s.Path, s.Proposal, list[0].ID)
				}
			}
			decide(t, ws, model.Accepted, list[0].ID)
		} else {
			decide(t, ws, model.Accepted, ids(pending)...)
		}
		for i := range 5 {
			mustSay(t, src.Source, fmt.Sprintf("n%d.md", i), "See [[Other]].\n")
		}
		noneWaits(t, ws, store)
	}
}

// A process is killed while a person accepts an exchange of names, at each of its renames and at the links. The next one completes
// what was decided, and all of it is taken back at once.
func TestAcceptedExchangeContinuesAfterAKill(t *testing.T) {
	for at := range 4 {
		src, store := newStuck(t, "Index.md"), bridgetest.NewStore(t)
		for name, text := range map[string]string{"A.md": "a\n", "B.md": "b\n", "Index.md": "[[A]] [[B]]\n"} {
			src.Person(t).Save(name, text)
		}
		ws := process(t, src.Source, store)
		ids := proposeExchange(t, ws)
		const marked = "{--[[A]]--}{++[[B]]++} {--[[B]]--}{++[[A]]++}\n"
		mustSay(t, src.Source, "Index.md", marked)
		src.rename = at
		killedIn(t, src, store, bridge.StructurePropose, func(ws *bridge.Workspace) {
			ws.Decide(context.Background(), ids, model.Accepted, person)
		})
		ws = process(t, src.Source, store)
		for name, want := range map[string]string{"A.md": "b\n", "B.md": "a\n", "Index.md": "[[B]] [[A]]\n"} {
			mustSay(t, src.Source, name, want)
		}
		noneWaits(t, ws, store)
		undo(t, ws, "")
		for name, want := range map[string]string{"A.md": "a\n", "B.md": "b\n", "Index.md": marked} {
			mustSay(t, src.Source, name, want)
		}
		if again, err := ws.Proposals(t.Context(), ""); err != nil || len(again) != 2 {
			t.Errorf("after the undo %+v, %v", again, err)
		}
	}
}

// badDisk is a source whose renames fail from one number on, until another.
type badDisk struct {
	*bridgetest.Source
	renames, from, until int
}

func (d *badDisk) Rename(ctx context.Context, oldRel, newRel string, replace bool) error {
	if d.renames++; d.from <= d.renames && d.renames < d.until {
		return syscall.EIO
	}
	return d.Source.Rename(ctx, oldRel, newRel, replace)
}

// proposeExchange proposes that A and B exchange names, and returns the IDs of the two proposals.
func proposeExchange(t *testing.T, ws *bridge.Workspace) []string {
	t.Helper()
	if err := ws.Exchange(t.Context(), "Notes/A.md", "Notes/B.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	list, err := ws.Proposals(t.Context(), "")
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	return []string{list[0].ID, list[1].ID}
}

// The disk fails at the last rename of an accepted exchange. If it works at the second try, the decision succeeds.
// Otherwise the next decision completes it, whatever that is about, or the next process.
func TestFailingDiskLeavesNoHalfOfAnExchange(t *testing.T) {
	for _, then := range []string{"works", "works at the next decision", "works in the next process"} {
		src, store := &badDisk{Source: bridgetest.NewSource(t)}, bridgetest.NewStore(t)
		for name, text := range map[string]string{"A.md": "a\n", "B.md": "b\n"} {
			src.Person(t).Save(name, text)
		}
		ws := process(t, src, store)
		ids := proposeExchange(t, ws)
		src.from = src.renames + 3
		if src.until = src.from + 1; then != "works" {
			src.until += 100
		}
		out, err := ws.Decide(t.Context(), ids, model.Accepted, person)
		if err != nil || (len(out.Failed) == 0) != (then == "works") {
			t.Fatalf("%s: %+v, %v", then, out, err)
		}
		src.until = 0
		if then == "works in the next process" {
			ws = process(t, src, store)
		} else if _, err := ws.Decide(t.Context(), nil, model.Rejected, person); err != nil {
			t.Fatal(err)
		}
		mustSay(t, src.Source, "A.md", "b\n")
		mustSay(t, src.Source, "B.md", "a\n")
		noneWaits(t, ws, store)
		undo(t, ws, out.Batch)
		mustSay(t, src.Source, "A.md", "a\n")
		mustSay(t, src.Source, "B.md", "b\n")
	}
}

// A user decides on a rename while its links are rewritten: all of them follow the decision.
func TestDecisionWhileLinksAreRewritten(t *testing.T) {
	for verdict, want := range map[model.Verdict]string{model.Accepted: "See [[Other]].\n", model.Rejected: "See [[Plan]].\n"} {
		src, store := newStuck(t, "n2.md"), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "one\n")
		for i := range 5 {
			src.Person(t).Save(fmt.Sprintf("n%d.md", i), "See [[Plan]].\n")
		}
		ws := process(t, src, store)
		renamed, decided := make(chan error), make(chan error)
		go func() {
			_, err := ws.Rename(context.Background(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
			renamed <- err
		}()
		<-src.reached
		list, err := ws.Proposals(t.Context(), "")
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		go func() {
			_, err := ws.Decide(context.Background(), []string{list[0].ID}, verdict, person)
			decided <- err
		}()
		select {
		case err := <-decided:
			t.Errorf("%s before the link was written, %v", verdict, err)
			decided = make(chan error, 1)
			decided <- nil
		case <-time.After(50 * time.Millisecond):
		}
		close(src.release)
		for _, done := range []chan error{decided, renamed} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for i := range 5 {
			mustSay(t, src.Source, fmt.Sprintf("n%d.md", i), want)
		}
		noneWaits(t, ws, store)
	}
}

// The front matter follows the last of several names that a note was proposed to have.
func TestLinksInFrontMatterFollowTheLastName(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one\n")
	src.Person(t).Save("Index.md", "---\nup: \"[[Plan]]\"\n---\nSee [[Plan]].\n")
	for _, to := range []model.Path{"Notes/Second.md", "Notes/Third.md"} {
		from := model.Path(plan)
		ws := process(t, src, store) // each is another process
		if list, err := ws.Proposals(t.Context(), ""); err == nil && len(list) > 0 {
			from = list[0].NewPath
		}
		if _, err := ws.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
	}
	ws := process(t, src, store)
	list, err := ws.Proposals(t.Context(), "")
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	decide(t, ws, model.Accepted, list[0].ID)
	mustSay(t, src, "Index.md", "---\nup: \"[[Third]]\"\n---\nSee [[Third]].\n")
	noneWaits(t, ws, store)
}

// The front matter follows a note that changes names with another one.
func TestLinksInFrontMatterFollowAnExchange(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	for name, text := range map[string]string{"A.md": "a\n", "B.md": "b\n", "Index.md": "---\none: \"[[A]]\"\n---\n"} {
		src.Person(t).Save(name, text)
	}
	ws := process(t, src, store)
	ids := proposeExchange(t, ws)
	decide(t, ws, model.Accepted, ids...)
	mustSay(t, src, "Index.md", "---\none: \"[[B]]\"\n---\n")
	noneWaits(t, ws, store)
}

// A note is to be deleted whose link follows a rename. Both are rejected: the link is as it was, also after a restart in between.
func TestLinkInANoteThatWasToBeDeleted(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for verdict, want := range map[model.Verdict]string{model.Rejected: "See [[Plan]].\n", model.Accepted: "See [[Other]].\n"} {
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			src.Person(t).Save("Plan.md", "one\n")
			src.Person(t).Save("Index.md", "See [[Plan]].\n")
			ws := process(t, src, store)
			renamed, err := ws.Rename(t.Context(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
			if err != nil {
				t.Fatal(err)
			}
			removed, err := ws.Remove(t.Context(), "Notes/Index.md", bridge.ChangeRequest{Author: bob})
			if err != nil {
				t.Fatal(err)
			}
			if restart {
				ws = process(t, src, store)
			}
			decide(t, ws, verdict, renamed.Proposal)
			decide(t, ws, model.Rejected, removed.Proposal)
			mustSay(t, src, "Index.md", want)
			noneWaits(t, ws, store)
		}
	}
}

// A rename is proposed while a note that links there is proposed to be deleted. The note is kept, and its link follows the decision on
// the rename, whichever comes first, also in front matter.
func TestLinkInANoteThatIsToBeDeletedAlready(t *testing.T) {
	const linked = "---\nup: \"[[Plan]]\"\n---\nSee [[Plan]].\n"
	for verdict, want := range map[model.Verdict]string{model.Rejected: linked, model.Accepted: "---\nup: \"[[Other]]\"\n---\nSee [[Other]].\n"} {
		for _, keptFirst := range []bool{true, false} {
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			src.Person(t).Save("Plan.md", "one\n")
			src.Person(t).Save("Index.md", linked)
			ws := process(t, src, store)
			removed, err := ws.Remove(t.Context(), "Notes/Index.md", bridge.ChangeRequest{Author: bob})
			if err != nil {
				t.Fatal(err)
			}
			renamed, err := ws.Rename(t.Context(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann})
			if err != nil {
				t.Fatal(err)
			}
			if keptFirst {
				decide(t, ws, model.Rejected, removed.Proposal)
				decide(t, ws, verdict, renamed.Proposal)
			} else {
				decide(t, ws, verdict, renamed.Proposal)
				decide(t, ws, model.Rejected, removed.Proposal)
			}
			mustSay(t, src, "Index.md", want)
			noneWaits(t, ws, store)
		}
	}
}

// Changes of one link in front matter by two renames are taken back one after the other.
func TestUndoOfTwoLinksInFrontMatter(t *testing.T) {
	const was = "---\nup: \"[[Plan]]\"\n---\nIndex\n"
	f := bridgetest.New(t, map[string]string{plan: "plan\n", "Notes/P.md": "p\n", "Notes/d/Log.md": "log\n", "Notes/Index.md": was})
	moveTo(t, f.Workspace, plan, "Notes/d/X.md")
	first := decideAll(t, f.Workspace, model.Accepted)
	moveTo(t, f.Workspace, "Notes/P.md", "Notes/X.md")
	decideAll(t, f.Workspace, model.Accepted)
	if got, want := f.SourceText("Notes/Index.md"), "---\nup: \"[[d/X]]\"\n---\nIndex\n"; got != want {
		t.Fatalf("after both renames: %q, want %q", got, want)
	}
	undo(t, f.Workspace, "")
	undo(t, f.Workspace, first.Batch)
	if got := f.SourceText("Notes/Index.md"); got != was {
		t.Errorf("taken back: %q, want %q", got, was)
	}
}
