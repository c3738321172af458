package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

var ann, person = model.Author{Name: "ann", Session: "s1"}, model.Author{Name: "person"}

func ids(list []model.Suggestion) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.ID)
	}
	return out
}

func decide(t testing.TB, ws *bridge.Workspace, verdict model.Verdict, ids ...string) bridge.Outcome {
	t.Helper()
	out, err := ws.Decide(t.Context(), ids, verdict, person)
	if err != nil || len(out.Failed) > 0 {
		t.Fatalf("%s %v: %v, %v", verdict, ids, err, out.Failed)
	}
	return out
}

func undo(t testing.TB, ws *bridge.Workspace, batch string) bridge.Outcome {
	t.Helper()
	out, err := ws.Undo(t.Context(), batch, person)
	if err != nil || len(out.Failed) > 0 {
		t.Fatalf("undo %q: %v, %v", batch, err, out.Failed)
	}
	return out
}

func TestDecideOneByOne(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\nthree\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\ntwo\nTHREE\n", By: ann})
	list := pendingOf(t, f.Workspace)
	if len(list) != 2 {
		t.Fatalf("suggestions %+v", list)
	}
	out := decide(t, f.Workspace, model.Accepted, list[0].ID, "no such id")
	if len(out.Decided) != 1 || out.Notes != 1 || len(out.Missing) != 1 || out.Missing[0] != "no such id" {
		t.Errorf("outcome %+v", out)
	}
	if got, want := f.SourceText(plan), "ONE\ntwo\n{--three--}{++THREE++}\n"; got != want {
		t.Errorf("after accepting one: %q, want %q", got, want)
	}
	decide(t, f.Workspace, model.Rejected, list[1].ID)
	if got := f.SourceText(plan); got != "ONE\ntwo\nthree\n" {
		t.Errorf("after rejecting the other: %q", got)
	}
	if left := pendingOf(t, f.Workspace); len(left) != 0 {
		t.Errorf("still pending: %+v", left)
	}
	journal, err := f.Journal(10)
	if err != nil || len(journal) != 2 || journal[0].Decision.Verdict != model.Rejected || journal[1].Path != plan {
		t.Fatalf("journal %+v, %v", journal, err)
	}
	if d := journal[1].Decision.Items[0]; d.Old != "one" || d.New != "ONE" || d.Author != "ann" || d.Session != "s1" {
		t.Errorf("journal's item %+v", d)
	}
}

func TestUndo(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\nthree\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\ntwo\nTHREE\n", By: ann})
	pending := f.SourceText(plan)
	decide(t, f.Workspace, model.Accepted, ids(pendingOf(t, f.Workspace))...)
	undo(t, f.Workspace, "")
	if got := f.SourceText(plan); got != pending {
		t.Errorf("after undo %q, want the bytes before, %q", got, pending)
	}
	list := pendingOf(t, f.Workspace)
	if len(list) != 2 || list[0].Author != "ann" || list[0].Session != "s1" {
		t.Errorf("pending again: %+v, want ann's", list)
	}
	if _, err := f.Undo(t.Context(), "", person); !errors.Is(err, bridge.ErrNothingToUndo) {
		t.Errorf("undo of an undo: %v", err)
	}
}

func TestUndoKeepsWhatWasTypedSince(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one two three\nend\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "one TWO three\nend\n", By: ann})
	out := decide(t, f.Workspace, model.Rejected, ids(pendingOf(t, f.Workspace))...)
	f.Person(plan, "typed above\none two three\nend, typed\n")
	undo(t, f.Workspace, out.Batch)
	if got, want := f.SourceText(plan), "typed above\none {--two--}{++TWO++} three\nend, typed\n"; got != want {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

func TestUndoOfFrontMatter(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "---\nstatus: draft\n---\nBody.\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "---\nstatus: done\n---\nBody.\n", By: ann})
	journal, err := f.Journal(10)
	if err != nil || len(journal) != 1 || journal[0].FrontMatter == nil || journal[0].Author != "ann" {
		t.Fatalf("journal %+v, %v", journal, err)
	}
	f.Person(plan, "---\nstatus: done\n---\nBody, typed.\n")
	undo(t, f.Workspace, journal[0].BatchOf())
	if got, want := f.SourceText(plan), "---\nstatus: draft\n---\nBody, typed.\n"; got != want {
		t.Errorf("after undo %q, want %q", got, want)
	}
}

func TestDecideManyNotes(t *testing.T) {
	const notes = 60
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("Notes/%d.md", i)] = fmt.Sprintf("a %d b\n\nc\n", i)
	}
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		f := bridgetest.New(t, files)
		before := make(map[string]string)
		for p, text := range files {
			write(t, f.Workspace, model.Path(p), bridge.Write{Text: strings.ToUpper(text), By: ann})
			before[p] = f.SourceText(p)
		}
		out := decide(t, f.Workspace, verdict, ids(pendingOf(t, f.Workspace))...)
		if out.Notes != notes {
			t.Errorf("%d notes %s, want %d", out.Notes, verdict, notes)
		}
		for p := range files {
			want := diffwrap.Accepted(before[p])
			if verdict == model.Rejected {
				want = diffwrap.Original(before[p])
			}
			if got := f.SourceText(p); got != want {
				t.Errorf("%s after all %s: %q, want %q", p, verdict, got, want)
			}
		}
		undo(t, f.Workspace, out.Batch)
		for p := range files {
			if got := f.SourceText(p); got != before[p] {
				t.Errorf("%s after undo: %q, want %q", p, got, before[p])
			}
		}
	}
}

// A user may save what is not UTF-8. Nothing is written into such a note, and what was pending there comes back with the
// person's next save in UTF-8.
func TestNothingIsWrittenIntoOtherEncodings(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\ntwo\n", By: ann})
	out := decide(t, f.Workspace, model.Accepted, ids(pendingOf(t, f.Workspace))...)
	const latin = "ONE\ntw\xf6\n"
	f.Person(plan, latin)
	back, err := f.Undo(t.Context(), out.Batch, person)
	if err != nil || !errors.Is(back.Failed[plan], model.ErrInvalidUTF8) {
		t.Errorf("undo: %v, %v", err, back.Failed)
	}
	if _, err := f.Comment(t.Context(), bridge.CommentAnchor{Path: plan, Quote: "ONE"}, "why?", person); err == nil {
		t.Error("a comment was written")
	}
	if _, err := f.Write(t.Context(), plan, bridge.Write{Text: "ONE\n", By: ann}); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if got := f.SourceText(plan); got != latin {
		t.Errorf("the note is %q, want %q", got, latin)
	}
	f.Person(plan, "ONE\ntwö\n")
	undo(t, f.Workspace, out.Batch)
	if got, want := f.SourceText(plan), "{--one--}{++ONE++}\ntwö\n"; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
}

// A note counts once, although a decision concerns its name, its text and the links in it that follow a rename.
func TestEachNoteCountsOnce(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		f := bridgetest.New(t, map[string]string{"Notes/A.md": "a\n", "Notes/Index.md": "[[A]]\n\nend\n", "Notes/Other.md": "[[A]]\n"})
		write(t, f.Workspace, "Notes/A.md", bridge.Write{Text: "a b\n", By: ann})
		write(t, f.Workspace, "Notes/Index.md", bridge.Write{Text: "[[A]]\n\nthe end\n", By: ann})
		moveTo(t, f.Workspace, "Notes/A.md", "Notes/B.md")
		list, err := f.Proposals(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		all := []string{list[0].ID}
		for _, s := range pendingOf(t, f.Workspace) {
			all = append(all, s.ID)
		}
		if out := decide(t, f.Workspace, verdict, all...); out.Notes != 3 {
			t.Errorf("%d notes %s, want 3", out.Notes, verdict)
		}
		out, err := f.Undo(t.Context(), "", person)
		if err != nil || out.Notes != 3 {
			t.Errorf("%d notes undone, want 3: %v", out.Notes, err)
		}
	}
}

// hooked calls before just before each Replace, and returns its error instead if there is one.
type hooked struct {
	*bridgetest.Source
	before func() error
}

func (h *hooked) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if err := h.before(); err != nil {
		return model.Stamp{}, err
	}
	return h.Source.Replace(ctx, rel, r)
}

// Each id of a decision is decided, Missing, or in a note that has Failed, whatever a person saves before the source has
// the decision, and whatever the source answers. It is Missing only if its mark is gone.
func TestOutcomeNamesEachID(t *testing.T) {
	decides := map[string]func(ws *bridge.Workspace, ids []string, thread string) (bridge.Outcome, int, error){
		"accept": func(ws *bridge.Workspace, ids []string, _ string) (bridge.Outcome, int, error) {
			out, err := ws.Decide(t.Context(), ids, model.Accepted, person)
			return out, len(ids), err
		},
		"reject": func(ws *bridge.Workspace, ids []string, _ string) (bridge.Outcome, int, error) {
			out, err := ws.Decide(t.Context(), ids, model.Rejected, person)
			return out, len(ids), err
		},
		"amend": func(ws *bridge.Workspace, ids []string, _ string) (bridge.Outcome, int, error) {
			out, err := ws.Amend(t.Context(), ids[0], "uno", person)
			return out, 1, err
		},
		"resolve": func(ws *bridge.Workspace, _ []string, thread string) (bridge.Outcome, int, error) {
			out, err := ws.ResolveThreads(t.Context(), []string{thread}, person)
			out.Decided = make([]model.Suggestion, out.Notes)
			return out, 1, err
		},
	}
	const one, three, why, typed = "{~~one~>ONE~~}", "{~~three~>THREE~~}", "{>>why?<<}", "typed "
	moments := map[string]struct {
		before, save string // what a person has saved before the decision, and saves during it
		err          error
	}{
		"nobody":          {},
		"typed before":    {before: typed + one + " two " + three + " four " + why + "\n"},
		"typed":           {save: typed + one + " two " + three + " four " + why + "\n"},
		"typed twice":     {before: typed + one + " two " + three + " four " + why + "\n", save: one + " 2 " + three + " " + why + typed},
		"one decided":     {save: "ONE two " + three + " four " + why + "\n"},
		"all decided":     {save: "ONE two THREE four\n"},
		"all deleted":     {save: "other\n"},
		"refused":         {err: model.ErrNoSpace},
		"always conflict": {err: model.ErrConflict},
	}
	for name, do := range decides {
		for when, moment := range moments {
			t.Run(name+"/"+when, func(t *testing.T) {
				var src *hooked
				f := bridgetest.New(t, map[string]string{plan: one + " two " + three + " four " + why + "\n"}, func(o *bridge.Options) {
					src = &hooked{o.Roots[0].Source.(*bridgetest.Source), func() error { return nil }}
					o.Roots[0].Source = src
				})
				list := ids(pendingOf(t, f.Workspace))[:2]
				threads, err := f.Threads(t.Context(), "")
				if err != nil || len(threads) != 1 {
					t.Fatalf("%+v, %v", threads, err)
				}
				if moment.before != "" {
					f.Person(plan, moment.before)
				}
				src.before = func() error {
					src.before = func() error { return moment.err }
					if moment.save != "" {
						src.Person(t).Save("Plan.md", moment.save)
					}
					return moment.err
				}
				out, n, err := do(f.Workspace, list, threads[0].ID)
				if err != nil {
					t.Fatal(err)
				}
				raw := f.SourceText(plan)
				if got := len(out.Decided) + len(out.Missing); moment.err == nil && (got != n || len(out.Failed) > 0) || moment.err != nil && (got > 0 || len(out.Failed) != 1) {
					t.Errorf("of %d ids the outcome has %+v", n, out)
				}
				if len(out.Missing) > 0 && strings.Contains(raw, typed) || len(out.Decided) > 0 != (out.Notes == 1) {
					t.Errorf("the outcome is %+v, and the file %q", out, raw)
				}
				for _, s := range out.Decided {
					if slices.Contains(ids(pendingOf(t, f.Workspace)), s.ID) {
						t.Errorf("%s is decided, and pending: %q", s.ID, raw)
					}
				}
			})
		}
	}
}
