package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// These tests hold that what a record has said stays so: whoever writes next, whatever the clock says,
// and in the running process as in one that has just started.

// running is a process over a source and a store that outlive it.
type running struct {
	*bridge.Workspace
	t    testing.TB
	stop func()
}

func run(t testing.TB, src *bridgetest.Source, store *bridgetest.Store, opts ...func(*bridge.Options)) *running {
	t.Helper()
	o := bridge.Options{Roots: []bridge.RootSource{{Name: "Notes", Source: src, Store: store}}}
	for _, f := range opts {
		f(&o)
	}
	ws, err := bridge.New(o)
	if err == nil {
		err = ws.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ws.Run(ctx) }()
	stop := func() { cancel(); <-done }
	t.Cleanup(stop)
	return &running{ws, t, stop}
}

// replace is an author's program that replaces a text of the note as it is shown now.
func (r *running) replace(author model.Author, old, new string) {
	r.t.Helper()
	v, err := r.Open(context.Background(), plan)
	if err == nil && !strings.Contains(v.Text(), old) {
		r.t.Fatalf("%q is not in %q", old, v.Text())
	}
	if err == nil {
		_, err = r.Write(context.Background(), plan, bridge.Write{Base: v, Text: strings.Replace(v.Text(), old, new, 1), By: author})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) pending() []model.Suggestion {
	r.t.Helper()
	list, err := r.Suggestions(context.Background(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *running) decideAll(verdict model.Verdict) {
	r.t.Helper()
	var ids []string
	for _, s := range r.pending() {
		ids = append(ids, s.ID)
	}
	if out, err := r.Decide(context.Background(), ids, verdict, person); err != nil || len(out.Failed)+len(out.Missing) > 0 {
		r.t.Fatalf("decide: %+v, %v", out, err)
	}
}

func (r *running) undo() {
	r.t.Helper()
	if _, err := r.Undo(context.Background(), "", person); err != nil {
		r.t.Fatal(err)
	}
}

// A comment that was accepted, or that a user has reworded, is nobody's suggestion any more, whoever writes
// elsewhere in the note.
func TestCommentStaysDecided(t *testing.T) {
	const before = "one two three\n\nfour five\n"
	for _, next := range []model.Author{ann, bob} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", before)
		r := run(t, src, store)
		r.replace(bob, "two", "two{>>is it? 🦊<<}")
		r.decideAll(model.Accepted)
		r.replace(next, "five", "FIVE")
		for _, s := range r.pending() {
			if s.Kind == diffwrap.Comment {
				t.Errorf("after %s wrote, the accepted comment %q waits as a suggestion of %q", next.Name, s.New, s.Author)
			}
		}
	}
	for _, reworded := range []string{"{>>is it? NO, my own idea.<<}", "{>>NO.<<}", "{>>is <<}", "{>>so is it?<<}"} {
		f := bridgetest.New(t, map[string]string{plan: before})
		r := &running{f.Workspace, t, nil}
		r.replace(bob, "two", "two{>>is it?<<}")
		text := strings.Replace(before, "two", "two"+reworded, 1)
		f.Person(plan, text)
		r.replace(ann, "five", "FIVE")
		for _, s := range r.pending() {
			if s.Kind == diffwrap.Comment && s.Author != bob.Name {
				t.Errorf("the comment %q waits as %q's", s.New, s.Author)
			}
			if s.Author == ann.Name {
				if _, err := f.Decide(t.Context(), []string{s.ID}, model.Rejected, person); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := f.SourceText(plan); got != text {
			t.Errorf("after the rejection of what ann wrote: got %q, want %q", got, text)
		}
	}
}

// A comment cannot be amended, blank or not.
func TestCommentIsNotAmended(t *testing.T) {
	for _, comment := range []string{"{>>why?<<}", "{>> <<}"} {
		f := bridgetest.New(t, map[string]string{plan: "one two three\n"})
		r := &running{f.Workspace, t, nil}
		r.replace(ann, "two", comment+"two")
		before := f.SourceText(plan)
		for _, s := range r.pending() {
			out, err := f.Amend(t.Context(), s.ID, "changed", person)
			if err != nil || out.Failed[model.Path(plan)] == nil || !strings.Contains(out.Failed[model.Path(plan)].Error(), "a comment cannot be amended") {
				t.Errorf("amend %q: got %v, %v, want a refusal", comment, out.Failed, err)
			}
		}
		if got := f.SourceText(plan); got != before {
			t.Errorf("after the refused amendment of %q: got %q, want %q", comment, got, before)
		}
	}
}

// An agent's comment without a character in it is text, which can be amended.
func TestCommentOfNothingIsAmended(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one two three\n"})
	r := &running{f.Workspace, t, nil}
	r.replace(ann, "two", "{>><<}two")
	for _, s := range r.pending() {
		if out, err := f.Amend(t.Context(), s.ID, "changed", person); err != nil || len(out.Failed) > 0 {
			t.Errorf("amend: %v, %v", out.Failed, err)
		}
	}
	if got, want := f.SourceText(plan), "one changedtwo three\n"; got != want {
		t.Errorf("amended: got %q, want %q", got, want)
	}
}

// A suggestion does not answer a rejection that was undone, in the process that took it back as in the next.
func TestRejectionTakenBackIsNotAnswered(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one two three\n")
	r := run(t, src, store)
	r.replace(ann, "two", "TWO")
	r.decideAll(model.Rejected)
	r.undo()
	r.replace(ann, "TWO", "2")
	answers := func(r *running, when string) {
		t.Helper()
		list := r.pending()
		if len(list) != 1 || list[0].PreviousRejection != nil {
			t.Errorf("%s: got %+v, want one suggestion that answers nothing", when, list)
		}
	}
	answers(r, "in the running process")
	r.stop()
	answers(run(t, src, store), "after a restart")
}

// Who wrote a comment that an undo has brought back is known, however much was written in between.
func TestAuthorOfACommentBroughtBack(t *testing.T) {
	var b strings.Builder
	for i := range 700 {
		fmt.Fprintf(&b, "word%d and\n\n", i)
	}
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one two three\n\n"+b.String())
	r := run(t, src, store)
	r.replace(ann, "two", "two{>>is it?<<}")
	r.decideAll(model.Rejected)
	v, err := r.Open(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(t.Context(), plan, bridge.Write{Base: v, Text: strings.ReplaceAll(v.Text(), "word", "WORD"), By: bob}); err != nil {
		t.Fatal(err)
	}
	r.undo()
	check := func(r *running, when string) {
		t.Helper()
		threads, err := r.Threads(t.Context(), "")
		if err != nil || len(threads) != 1 || threads[0].Entries[0].Author != ann.Name {
			t.Errorf("%s: got %+v, %v, want one comment by %s", when, threads, err, ann.Name)
		}
	}
	check(r, "in the running process")
	r.stop()
	check(run(t, src, store), "after a restart")
}

// An undo takes back what was decided last, also if the clock was set back in between.
func TestUndoFollowsTheLog(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "one two\n\nthree four\n")
	r := run(t, src, store)
	r.replace(ann, "one", "ONE")
	r.decideAll(model.Accepted)
	r.stop()
	synctest.Test(t, func(t *testing.T) { // it is the year 2000 in here
		r := run(t, src.Restarted(t), store)
		defer r.stop()
		r.replace(ann, "four", "FOUR")
		r.decideAll(model.Accepted)
		r.undo()
		const want = "ONE two\n\nthree {--four--}{++FOUR++}\n"
		if got := src.Person(t).Content("Plan.md"); got != want {
			t.Errorf("after the undo of the last decision: got %q, want %q", got, want)
		}
	})
}

// In direct mode a text that is written after a mark is plain, and no part of the mark.
func TestDirectTextBehindAMarkIsPlain(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"one {++two++}", "one  three"},
		{"one {~~two~>TWO~~}", "one two three"},
		{"one {--two--}{++TWO++}", "one two three"},
		{"one {==two==}{++TWO++}", "one {==two==} three"},
		{"one {++🦊++}", "one  three"},
	} {
		f := bridgetest.New(t, map[string]string{plan: tt.raw}, func(o *bridge.Options) { o.Mode = bridge.Direct })
		r := &running{f.Workspace, t, nil}
		v, err := f.Open(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(t.Context(), plan, bridge.Write{Base: v, Text: v.Text() + " three", By: ann}); err != nil {
			t.Fatal(err)
		}
		raw := f.SourceText(plan)
		r.decideAll(model.Rejected)
		if got := f.SourceText(plan); got != tt.want {
			t.Errorf("%q with text behind it is %q; after the rejection: got %q, want %q", tt.raw, raw, got, tt.want)
		}
	}
}

// Words that an agent kept when it rewrote lines are there once, whatever is accepted and what rejected.
func TestKeptWordsSurviveEveryDecision(t *testing.T) {
	for _, tt := range []struct{ text, old, new, kept string }{
		{"one KEEP two three four\n THIS \nfive six seven\n", "two three four\n THIS \nfive ", "  THIS ", "one KEEP THIS six seven"},
		{"# A\n\none KEEP two\n\nTHIS three\nfour five\n", "two\n\nTHIS three\nfour", "THIS", "one KEEP THIS five"},
		{"- one KEEP\n- two THIS\n- three\n", "KEEP\n- two THIS\n- three", "KEEP THIS", "one KEEP THIS"},
	} {
		for mask := range 8 {
			f := bridgetest.New(t, map[string]string{plan: tt.text})
			r := &running{f.Workspace, t, nil}
			r.replace(ann, tt.old, tt.new)
			raw, list := f.SourceText(plan), r.pending()
			for i, s := range list {
				verdict := model.Rejected
				if mask>>i&1 == 1 {
					verdict = model.Accepted
				}
				if _, err := f.Decide(t.Context(), []string{s.ID}, verdict, person); err != nil {
					t.Fatal(err)
				}
			}
			got := f.SourceText(plan)
			for word := range strings.FieldsSeq(tt.kept) {
				if n := strings.Count(got, word); n != 1 {
					t.Errorf("%q, decided as %03b: got %q %d times in %q, want it once", raw, mask, word, n, got)
				}
			}
		}
	}
}
