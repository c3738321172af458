package bridge_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

const (
	canvas = "Notes/sub/Map.canvas"
	table  = "Notes/sub/Map.csv"
)

// Who writes what he has read does not write over what somebody else wrote since.
func TestWriteFileKnowsItsBase(t *testing.T) {
	for _, mode := range []bridge.Mode{bridge.Direct, bridge.Suggest} {
		f := bridgetest.New(t, map[string]string{table: "1"}, func(o *bridge.Options) { o.Mode = mode })
		write := func(base, data string) error {
			_, err := f.WriteFile(t.Context(), table, []byte(data), bridge.ChangeRequest{Base: sha256.Sum256([]byte(base))})
			return err
		}
		if err := write("1", "2"); err != nil {
			t.Error(err)
		}
		if err := write("1", "3"); !errors.Is(err, model.ErrConflict) {
			t.Errorf("mode %v: writing what another one wrote over: %v", mode, err)
		}
		if got := readFile(t, f.Workspace, table); got != "2" {
			t.Errorf("mode %v: the file holds %q", mode, got)
		}
		if err := write("2", "3"); err != nil {
			t.Error(err)
		}
		_, err := f.WriteFile(t.Context(), "Notes/none.csv", nil, bridge.ChangeRequest{Base: sha256.Sum256([]byte("1"))})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("mode %v: writing what is gone: %v", mode, err)
		}
	}
}

// A writer who proposes once more does not see what a user did since the first
// time, and the proposal stays stale.
func TestProposedAgainOverAPersonsChange(t *testing.T) {
	f := bridgetest.New(t, map[string]string{table: "old"})
	propose(t, f.Workspace, table, "first")
	f.Person(table, "a person's")
	propose(t, f.Workspace, table, "second")
	if out := decideAll(t, f.Workspace, model.Accepted); len(out.Failed) != 1 {
		t.Errorf("a person's change was overwritten: %+v", out)
	}
	if got := f.SourceText(table); got != "a person's" {
		t.Errorf("the file holds %q", got)
	}
	propose(t, f.Workspace, table, "second and a person's")
	f.Person(table, "second and a person's")
	if _, err := f.WriteFile(t.Context(), table, []byte("second and a person's"), bridge.ChangeRequest{Author: agent}); err != nil {
		t.Error(err)
	}
	if list, err := f.Proposals(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("what the file holds is still proposed: %+v, %v", list, err)
	}
}

func TestWriteFileInDirectMode(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "x\n"}, func(o *bridge.Options) { o.Mode = bridge.Direct })
	for _, data := range []string{"{}", `{"nodes":[]}`, `{"edges":[]}`} {
		if _, err := f.WriteFile(t.Context(), canvas, []byte(data), bridge.ChangeRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := f.SourceText(canvas); got != data {
			t.Errorf("file holds %q, want %q", got, data)
		}
		if info, err := f.Stat(t.Context(), canvas); err != nil || info.Size != int64(len(data)) {
			t.Errorf("stat: %+v, %v", info, err)
		}
	}
	if _, err := f.WriteFile(t.Context(), plan, nil, bridge.ChangeRequest{}); !errors.Is(err, model.ErrNotNote) {
		t.Errorf("write of a note as a file: %v", err)
	}
}

// readFile is what readers are shown of a file that is not a note.
func readFile(t testing.TB, w *bridge.Workspace, p model.Path) string {
	t.Helper()
	file, err := w.OpenFile(t.Context(), p, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, info.Size())
	if _, err := file.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return string(data)
}

func decideAll(t *testing.T, w *bridge.Workspace, verdict model.Verdict) bridge.Outcome {
	t.Helper()
	list, err := w.Proposals(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	out, err := w.Decide(t.Context(), ids, verdict, model.Author{Name: "person"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func propose(t *testing.T, w *bridge.Workspace, p model.Path, data string) {
	t.Helper()
	res, err := w.WriteFile(t.Context(), p, []byte(data), bridge.ChangeRequest{Author: agent})
	if err != nil || res.Proposal == "" {
		t.Fatalf("%+v, %v", res, err)
	}
}

// A whole file waits like a suggestion: read as proposed, in the source when it is
// accepted, over restarts.
func TestWholeFileProposals(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("old.base", "a: 1\n")
	const oldFile, newFile = "Notes/old.base", "Notes/sub/new.canvas"
	ws := process(t, src, store)
	propose(t, ws, oldFile, "a: 2\n")
	propose(t, ws, oldFile, "a: 3\n") // instead
	propose(t, ws, newFile, "{}")
	ws = process(t, src, store)
	if got := readFile(t, ws, oldFile) + readFile(t, ws, newFile); got != "a: 3\n{}" {
		t.Errorf("shown as proposed: %q", got)
	}
	if got := src.Person(t).Content("old.base"); got != "a: 1\n" {
		t.Errorf("source holds %q", got)
	}
	list, err := ws.Proposals(t.Context(), "Notes")
	if err != nil || len(list) != 2 || string(list[0].Old) != "a: 1\n" || string(list[0].New) != "a: 3\n" || list[1].Old != nil {
		t.Fatalf("proposals %+v, %v", list, err)
	}
	if out := decideAll(t, ws, model.Accepted); len(out.Failed) > 0 {
		t.Fatal(out.Failed)
	}
	if got := src.Person(t).Content("old.base") + src.Person(t).Content("sub/new.canvas"); got != "a: 3\n{}" {
		t.Errorf("source holds %q after acceptance", got)
	}
	ws = process(t, src, store)
	if _, err := ws.Undo(t.Context(), "", model.Author{Name: "person"}); err != nil {
		t.Fatal(err)
	}
	if got := src.Person(t).Content("old.base"); got != "a: 1\n" || readFile(t, ws, newFile) != "{}" {
		t.Errorf("source holds %q after undo", got)
	}
	if _, _, err := src.Read(t.Context(), "sub/new.canvas"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("new file after undo: %v", err)
	}
	decideAll(t, ws, model.Rejected)
	if got := readFile(t, ws, oldFile); got != "a: 1\n" {
		t.Errorf("shown after rejection: %q", got)
	}
	if _, err := ws.Stat(t.Context(), newFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("new file after rejection: %v", err)
	}
}

// What a user changed meanwhile is not replaced without a second yes.
func TestStaleProposals(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("old.base", "a: 1\n")
	src.Person(t).Save("Plan.md", "plan\n")
	ws := process(t, src, store)
	propose(t, ws, "Notes/old.base", "a: 2\n")
	if _, err := ws.Remove(t.Context(), plan, bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	src.Person(t).Save("old.base", "a: person\n")
	src.Person(t).Save("Plan.md", "plan, kept\n")
	ws = process(t, src, store)
	out := decideAll(t, ws, model.Accepted)
	if len(out.Failed) != 2 || !errors.Is(out.Failed[plan], model.ErrStale) || !errors.Is(out.Failed["Notes/old.base"], model.ErrStale) {
		t.Fatalf("%+v", out)
	}
	if got := src.Person(t).Content("old.base") + src.Person(t).Content("Plan.md"); got != "a: person\nplan, kept\n" {
		t.Errorf("source holds %q", got)
	}
	list, _ := ws.Proposals(t.Context(), "")
	for _, p := range list {
		if !p.Stale {
			t.Errorf("%s of %q is not marked stale", p.Kind, p.Path)
		}
		if out, err := ws.DecideStale(t.Context(), []string{p.ID}, model.Accepted, agent); err != nil || len(out.Failed) > 0 {
			t.Errorf("%+v, %v", out, err)
		}
		if out, err := ws.Undo(t.Context(), "", agent); err != nil || len(out.Failed) > 0 {
			t.Errorf("%+v, %v", out, err)
		}
		if out := decideAll(t, ws, model.Accepted); !errors.Is(out.Failed[p.Path], model.ErrStale) {
			t.Errorf("accepted after the undo: %+v", out)
		}
		if out, err := ws.DecideStale(t.Context(), []string{p.ID}, model.Accepted, agent); err != nil || len(out.Failed) > 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}
	if got := src.Person(t).Content("old.base"); got != "a: 2\n" {
		t.Errorf("source holds %q after the second yes", got)
	}
}

// The acceptance of a file's new content does not make a rename of the file stale, and its undo does not, either.
func TestWrittenAndRenamed(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("a.png", "old")
	ws := process(t, src, store)
	propose(t, ws, "Notes/a.png", "newer")
	if _, err := ws.Rename(t.Context(), "Notes/a.png", "Notes/b.png", bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	content := func() string {
		list, err := ws.Proposals(t.Context(), "")
		if i := slices.IndexFunc(list, func(p model.Proposal) bool { return p.Kind == model.ProposedFile }); err == nil && i >= 0 {
			return list[i].ID
		}
		t.Fatalf("no proposed content in %+v, %v", list, err)
		return ""
	}
	if out, err := ws.Decide(t.Context(), []string{content()}, model.Accepted, person); err != nil || len(out.Failed) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := ws.Undo(t.Context(), "", person); err != nil || len(out.Failed) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := ws.Decide(t.Context(), []string{content()}, model.Accepted, person); err != nil || len(out.Failed) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	ws = process(t, src, store)
	if out := decideAll(t, ws, model.Accepted); len(out.Failed) > 0 {
		t.Fatal(out.Failed)
	}
	if got := src.Person(t).Content("b.png"); got != "newer" {
		t.Errorf("source holds %q", got)
	}
}

// An undone rejection does not hide that a user changed the note after it.
func TestStaleAfterAnUndo(t *testing.T) {
	for _, typed := range []string{"", "kept\n"} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "plan\n")
		ws := process(t, src, store)
		if _, err := ws.Remove(t.Context(), plan, bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		rejected := decideAll(t, ws, model.Rejected)
		src.Person(t).Save("Plan.md", "plan\n"+typed)
		ws = process(t, src, store)
		if _, err := ws.Open(t.Context(), plan); err != nil { // relayfs knows the user's text before the undo
			t.Fatal(err)
		}
		if out, err := ws.Undo(t.Context(), rejected.Batch, model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		if out := decideAll(t, ws, model.Accepted); errors.Is(out.Failed[plan], model.ErrStale) != (typed != "") {
			t.Errorf("after the user typed %q: %+v", typed, out)
		}
	}
}

// What relayfs itself writes in a note, in a decision and its undo, is no change by a user: here it is a link to a note
// whose rename is rejected together with the deletion.
func TestNotStaleAfterAnUndo(t *testing.T) {
	for _, typed := range []string{"", "typed "} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "plan\n")
		src.Person(t).Save("Home.md", "see [[Plan]]\n")
		ws := process(t, src, store)
		if _, err := ws.Rename(t.Context(), plan, "Notes/Scheme.md", bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Remove(t.Context(), "Notes/Home.md", bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		rejected := decideAll(t, ws, model.Rejected)
		src.Person(t).Save("Home.md", typed+src.Person(t).Content("Home.md"))
		if _, err := ws.Undo(t.Context(), rejected.Batch, person); err != nil {
			t.Fatal(err)
		}
		list, err := ws.Proposals(t.Context(), "")
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, p := range list {
			if want := typed != "" && p.Kind == model.ProposedDelete; p.Stale != want {
				t.Errorf("after a user typed %q, %s of %s: stale is %v", typed, p.Kind, p.Path, p.Stale)
			}
		}
	}
}

// Links that a rename rewrites are never accepted without it: not by themselves, and not with one that fails.
func TestLinksFollowTheirRename(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "plan\n")
	src.Person(t).Save("Home.md", "see [[Plan]]\n")
	ws := process(t, src, store)
	if _, err := ws.Rename(t.Context(), plan, "Notes/Scheme.md", bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	links, err := ws.Suggestions(t.Context(), "")
	if err != nil || len(links) != 1 || links[0].Proposal == "" {
		t.Fatalf("suggestions %+v, %v", links, err)
	}
	pending := src.Person(t).Content("Home.md")
	out, err := ws.Decide(t.Context(), []string{links[0].ID}, model.Accepted, model.Author{Name: "person"})
	if err != nil || out.Notes != 0 || out.Failed[plan] == nil {
		t.Errorf("the link alone: %+v, %v", out, err)
	}
	src.Person(t).Save("Plan.md", "plan, changed by a person\n")
	ws = process(t, src, store)
	out, err = ws.Decide(t.Context(), []string{links[0].ID, links[0].Proposal}, model.Accepted, model.Author{Name: "person"})
	if err != nil || !errors.Is(out.Failed[plan], model.ErrStale) || out.Notes != 0 {
		t.Errorf("with a rename that is stale: %+v, %v", out, err)
	}
	if got := src.Person(t).Content("Home.md"); got != pending {
		t.Errorf("the note with the link holds %q, want %q", got, pending)
	}
	if out := decideAll(t, ws, model.Rejected); len(out.Failed)+len(out.Missing) > 0 {
		t.Errorf("rejected: %+v", out)
	}
	if got := src.Person(t).Content("Home.md"); got != "see [[Plan]]\n" {
		t.Errorf("the note with the link holds %q after the rejection", got)
	}
}

// A note that is proposed to be deleted and written again is that note: where the new
// text would change another's pending suggestion, it is refused, and the proposal
// stays; where it does not, the note is edited and the proposal is gone.
func TestWrittenAnewOverAnothersSuggestion(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "one\ntwo\nann's\n", By: ann})
	if _, err := f.Remove(t.Context(), plan, bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
	before, list := f.SourceText(plan), fmt.Sprint(f.Proposals(t.Context(), ""))
	_, err := f.Create(t.Context(), plan, bridge.Write{Text: "new\n", By: agent})
	if !errors.Is(err, model.ErrRefused) {
		t.Errorf("written anew over another's suggestion: %v, want ErrRefused", err)
	}
	if _, err := f.Stat(t.Context(), plan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note after the refusal: %v", err)
	}
	if got := fmt.Sprint(f.Proposals(t.Context(), "")); got != list || f.SourceText(plan) != before {
		t.Errorf("the refusal changed the proposals %s to %s, the note %q to %q", list, got, before, f.SourceText(plan))
	}
	if _, err := f.Create(t.Context(), plan, bridge.Write{Text: "one\nTWO\nann's\n", By: agent}); err != nil {
		t.Fatal(err)
	}
	if got, want := f.SourceText(plan), "one\n{--two--}{++TWO++}{++\nann's++}\n"; got != want {
		t.Errorf("written anew: %q, want %q", got, want)
	}
	if list, err := f.Proposals(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("proposals after it was written anew: %+v, %v", list, err)
	}
}

// A note that is written again after its deletion was proposed keeps what a user typed in its file in the meantime: the
// writer replaces only the text that the note had when it was deleted.
func TestWrittenAnewOverAUsersText(t *testing.T) {
	for name, c := range map[string]struct{ before, user, written, want string }{
		"a line":           {"one\ntwo\n", "one\ntwo\ntyped\n", "uno\ndue\n", "uno\ndue\ntyped\n"},
		"in an empty note": {"", "typed\n", "new\n", "typed\nnew\n"},
		"nothing":          {"one\ntwo\n", "one\ntwo\n", "uno\n", "uno\n"},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %v", name, restarted), func(t *testing.T) {
				src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
				src.Person(t).Save("Plan.md", c.before)
				ws := process(t, src, store)
				if _, err := ws.Remove(t.Context(), plan, bridge.ChangeRequest{Author: agent}); err != nil {
					t.Fatal(err)
				}
				src.Person(t).Save("Plan.md", c.user)
				if restarted {
					ws = process(t, src, store)
				}
				res, err := ws.Create(t.Context(), plan, bridge.Write{Text: c.written, By: agent})
				if err != nil {
					t.Fatal(err)
				}
				if got := res.Version.Text(); got != c.want {
					t.Errorf("shown is %q, want %q", got, c.want)
				}
				decidePending(t, ws, model.Rejected)
				if got := src.Person(t).Content("Plan.md"); got != c.user {
					t.Errorf("after a rejection the note has %q, want %q", got, c.user)
				}
			})
		}
	}
}

// cutStore is a process that is killed at the nth time that it keeps proposals.
type cutStore struct {
	*bridgetest.Store
	left int
}

func (s *cutStore) Propose(c model.ProposalChange) error {
	if s.left--; s.left < 0 {
		return model.ErrNoSpace
	}
	return s.Store.Propose(c)
}

// A crash in an acceptance, or in taking it back, leaves the proposal pending or
// carried out, and what is shown never changes by it.
func TestInterruptedDecisions(t *testing.T) {
	for cut := range 7 {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", "plan\n")
		src.Person(t).Save("Gone.md", "gone\n")
		ws := process(t, src, store)
		if _, err := ws.Rename(t.Context(), plan, "Notes/Goal.md", bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		if _, err := ws.Remove(t.Context(), "Notes/Gone.md", bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
		decideAll(t, process(t, src, &cutStore{store, cut}), model.Accepted)
		checkEither(t, fmt.Sprintf("acceptance cut at %d", cut), src, store)
		decideAll(t, process(t, src, store), model.Accepted)
		for _, ids := range []int{cut, 99} {
			ws = process(t, src, &cutStore{store, ids})
			for range 3 {
				if _, err := ws.Undo(t.Context(), "", agent); errors.Is(err, bridge.ErrNothingToUndo) {
					break
				}
			}
			checkEither(t, fmt.Sprintf("undo cut at %d", ids), src, store)
		}
	}
}

// checkEither starts the next process and checks that each of two proposals is
// pending or done, and shown as done.
func checkEither(t *testing.T, when string, src *bridgetest.Source, store *bridgetest.Store) {
	t.Helper()
	ws := process(t, src, store)
	pending := make(map[model.Path]bool)
	list, err := ws.Proposals(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		pending[p.Path] = true
	}
	has := func(rel string) bool {
		_, _, err := src.Read(context.Background(), rel)
		return err == nil
	}
	if has("Plan.md") != pending[plan] || has("Goal.md") == pending[plan] || has("Gone.md") != pending["Notes/Gone.md"] {
		t.Errorf("%s: pending %v, source has Plan %v, Goal %v, Gone %v", when, pending, has("Plan.md"), has("Goal.md"), has("Gone.md"))
	}
	if got := open(t, ws, "Notes/Goal.md").Text(); got != "plan\n" {
		t.Errorf("%s: shown is %q", when, got)
	}
	if _, err := ws.Stat(t.Context(), "Notes/Gone.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: the deleted note: %v", when, err)
	}
}

// Links follow a rename, in their own style, plainly in direct mode.
func TestLinksFollowARename(t *testing.T) {
	files := map[string]string{
		"Notes/a/Note.md": "[[#Self]] and [up](../Index.md)\n",
		"Notes/Index.md":  "---\nup: \"[[Note]]\"\n---\n[[Note|n]] ![[a/Note#H]] [t](a/Note.md) [[Other]] `[[Note]]`\n",
		"Notes/Other.md":  "[[a/Note]] {++and [[Note]]++}\n",
	}
	want := map[string]string{
		"Notes/b c/New.md": "[[#Self]] and [up](../Index.md)\n",
		"Notes/Index.md":   "---\nup: \"[[New]]\"\n---\n[[New|n]] ![[b c/New#H]] [t](b%20c/New.md) [[Other]] `[[Note]]`\n",
		"Notes/Other.md":   "[[b c/New]] {++and [[New]]++}\n",
	}
	f := bridgetest.New(t, files, func(o *bridge.Options) { o.Mode, o.Structure = bridge.Direct, bridge.StructureDirect })
	if err := f.Mkdir(t.Context(), "Notes/b c", bridge.ChangeRequest{}); err != nil {
		t.Fatal(err)
	}
	res, err := f.Workspace.Rename(t.Context(), "Notes/a/Note.md", "Notes/b c/New.md", bridge.ChangeRequest{Author: agent})
	if err != nil || res.Links != 6 || res.Notes != 2 || res.Proposal != "" {
		t.Errorf("%+v, %v", res, err)
	}
	for p, text := range want {
		if got := f.SourceText(p); got != text {
			t.Errorf("%s holds\n%q, want\n%q", p, got, text)
		}
	}
}

// A burst of deletions is stopped, unless it is confirmed or decided on.
func TestBrake(t *testing.T) {
	files := make(map[string]string)
	for i := range 120 {
		files[fmt.Sprintf("Notes/%03d.md", i)] = "text\n"
	}
	f := bridgetest.New(t, files)
	remove := func(i int, by bridge.ChangeRequest) error {
		_, err := f.Remove(t.Context(), model.Path(fmt.Sprintf("Notes/%03d.md", i)), by)
		return err
	}
	for i := range 12 {
		if err := remove(i, bridge.ChangeRequest{Author: agent}); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(12, bridge.ChangeRequest{Author: agent}); !errors.Is(err, model.ErrDeletionLimit) || !strings.Contains(err.Error(), "wait a minute") {
		t.Errorf("a thirteenth of 120 notes: %v", err)
	}
	if err := remove(13, bridge.ChangeRequest{Author: model.Author{Name: "another"}}); err != nil {
		t.Errorf("by another author: %v", err)
	}
	decideAll(t, f.Workspace, model.Rejected)
	for i := range 10 {
		if err := remove(20+i, bridge.ChangeRequest{Author: agent}); err != nil {
			t.Errorf("after a rejection: %v", err)
		}
	}
	decideAll(t, f.Workspace, model.Accepted)
	for i := range 10 {
		if err := remove(40+i, bridge.ChangeRequest{Author: agent}); err != nil {
			t.Errorf("after an acceptance: %v", err)
		}
	}
}

// A note that was to be renamed stays where it is if somebody has taken the new name while
// nobody looked. The proposal says so.
func TestNewNameIsTakenAtTheStart(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one\n")
	if _, err := process(t, src, store).Rename(t.Context(), plan, "Notes/Other.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	src.Person(t).Save("Other.md", "other\n")
	ws := process(t, src, store)
	if got, other := open(t, ws, plan).Raw(), open(t, ws, "Notes/Other.md").Raw(); got != "one\n" || other != "other\n" {
		t.Errorf("the notes are %q and %q", got, other)
	}
	if list, err := ws.Proposals(t.Context(), ""); err != nil || len(list) != 1 || !list[0].Taken {
		t.Errorf("proposals %+v, %v, want one whose name is taken", list, err)
	}
}

// forbidding is a source with a folder that nobody may open.
type forbidding struct {
	*bridgetest.Source
	folder string
}

func (s forbidding) has(rel string) bool { return strings.HasPrefix(rel, s.folder+"/") }

func (s forbidding) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	return s.Source.Scan(ctx, func(e model.SourceEntry) {
		if !s.has(e.Rel) {
			found(e)
		}
	})
}

func (s forbidding) Stat(rel string) (model.SourceEntry, error) {
	if s.has(rel) {
		return model.SourceEntry{}, fs.ErrPermission
	}
	return s.Source.Stat(rel)
}

// A folder that cannot be read at one start does not end the proposals in it.
func TestProposalsOfAnUnreadableFolder(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	for _, rel := range []string{"Top.md", "a/Doomed.md", "a/Plan.md", "a/b/Other.md"} {
		src.Person(t).Save(rel, "text of "+rel+"\n")
	}
	ws := process(t, src, store)
	for from, to := range map[model.Path]model.Path{"Notes/a/Plan.md": "Notes/a/Scheme.md", "Notes/Top.md": "Notes/a/b/Top.md"} {
		if _, err := ws.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: ann}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ws.Remove(t.Context(), "Notes/a/Doomed.md", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	want, err := ws.Proposals(t.Context(), "")
	if err != nil || len(want) != 3 {
		t.Fatalf("proposals %+v, %v, want three", want, err)
	}
	process(t, forbidding{src, "a"}, store)
	got, err := process(t, src, store).Proposals(t.Context(), "")
	if err != nil || len(got) != 3 {
		t.Errorf("once the folder can be read: proposals %+v, %v, want %+v", got, err, want)
	}
}

// A file that an agent proposes stays its author's when another one renames it.
func TestRenamedProposedFileKeepsItsAuthor(t *testing.T) {
	bob := model.Author{Name: "bob", Session: "s2"}
	f := bridgetest.New(t, map[string]string{"Notes/Plan.md": "one\n"})
	if _, err := f.WriteFile(t.Context(), "Notes/data.csv", []byte("a,b\n"), bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Workspace.Rename(t.Context(), "Notes/data.csv", "Notes/numbers.csv", bridge.ChangeRequest{Author: bob}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.UndoSession(t.Context(), bob.Session, person); !errors.Is(err, bridge.ErrNothingToUndo) {
		t.Errorf("undo of bob's session: got %v, want %v", err, bridge.ErrNothingToUndo)
	}
	list, err := f.Proposals(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Path != "Notes/numbers.csv" || list[0].Author != ann.Name || string(list[0].New) != "a,b\n" {
		t.Errorf("proposals: got %+v, %v, want ann's file at its new name", list, err)
	}
}

// A rename that a later deletion of another author dropped can be brought back once the deletion was rejected.
func TestRenameDroppedByADeletionComesBack(t *testing.T) {
	bob := model.Author{Name: "bob", Session: "s2"}
	f := bridgetest.New(t, map[string]string{"Notes/Plan.md": "one\n"})
	renamed, err := f.Workspace.Rename(t.Context(), "Notes/Plan.md", "Notes/Other.md", bridge.ChangeRequest{Author: ann})
	if err != nil {
		t.Fatal(err)
	}
	removed, err := f.Workspace.Remove(t.Context(), "Notes/Other.md", bridge.ChangeRequest{Author: bob})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := f.Decide(t.Context(), []string{removed.Proposal}, model.Rejected, person); err != nil || len(out.Failed) > 0 {
		t.Fatalf("rejection of the deletion: %+v, %v", out, err)
	}
	if out, err := f.Undo(t.Context(), "", person, renamed.Proposal); err != nil || len(out.Failed) > 0 {
		t.Fatalf("undo of what dropped the rename: %+v, %v", out, err)
	}
	list, err := f.Proposals(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].ID != renamed.Proposal || list[0].Author != ann.Name || list[0].NewPath != "Notes/Other.md" {
		t.Errorf("proposals: got %+v, %v, want ann's rename", list, err)
	}
}

// An agent's own folder that moves into a folder which the source still has inside it is a proposal, like the move of
// the other folder.
func TestFolderMovedIntoOneThatItStillHolds(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"F/T/Note.md": "n\n"})
	by := bridge.ChangeRequest{Author: model.Author{Name: "ann", Session: "s"}}
	move := func(from, to model.Path) {
		t.Helper()
		if _, err := f.Workspace.Rename(t.Context(), from, to, by); err != nil {
			t.Fatal(err)
		}
	}
	move("F/T", "F/U")
	for _, dir := range []model.Path{"F/A", "F/A/S"} {
		if err := f.Mkdir(t.Context(), dir, by); err != nil {
			t.Fatal(err)
		}
	}
	move("F/A/S", "F/T") // the source has the name
	move("F/A", "F/T/A")
	if out := decideAll(t, f.Workspace, model.Accepted); len(out.Failed) > 0 {
		t.Errorf("%+v", out)
	}
	if got, want := fmt.Sprint(f.Source("F").Person(t).Names()), "[T U T/A U/Note.md]"; got != want {
		t.Errorf("the vault has %s, want %s", got, want)
	}
}
