package bridge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A user who sorts, moves and types lines around pending marks loses none: each line that the user wrote is there once,
// whatever is decided, and at most once what an agent wrote. The texts are lists, paragraphs and table rows; a save moves
// lines of the file as they are, halves of marks included, as "sort" does.
func TestPersonMovesLines(t *testing.T) {
	randomtest.Check(t, 400, func(t testing.TB, r *rand.Rand) {
		form := []struct{ before, after string }{{"- ", ""}, {"", "\n"}, {"| ", " |"}, {"1. ", ""}}[r.IntN(4)]
		line := func(word string) string { return form.before + word + form.after + "\n" }
		var mine []string
		text := ""
		for i := range 3 + r.IntN(5) {
			mine = append(mine, fmt.Sprintf("mine%c", 'a'+i))
			text += line(mine[i])
		}
		f := bridgetest.New(t, map[string]string{plan: text})
		run := &running{f.Workspace, t, nil}
		var theirs []string
		for i := range 1 + r.IntN(3) {
			word := fmt.Sprintf("agent%c", 'a'+i)
			theirs = append(theirs, word)
			at := line(mine[r.IntN(len(mine))])
			v, err := f.Open(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(v.Text(), at) {
				run.replace(ann, at, at+line(word))
			}
		}
		raw := f.SourceText(plan)
		var saves []string
		for range 1 + r.IntN(3) {
			lines := strings.SplitAfter(strings.TrimSuffix(f.SourceText(plan), "\n"), "\n")
			lines[len(lines)-1] += "\n"
			switch r.IntN(3) {
			case 0:
				slices.Sort(lines)
			case 1: // a block of lines is moved
				from, to := r.IntN(len(lines)), r.IntN(len(lines))
				moved := lines[from]
				lines = slices.Insert(slices.Delete(lines, from, from+1), to, moved)
			case 2:
				mine = append(mine, fmt.Sprintf("typed%c", 'a'+len(mine)))
				lines = slices.Insert(lines, r.IntN(len(lines)+1), line(mine[len(mine)-1]))
			}
			f.Person(plan, strings.Join(lines, ""))
			saves = append(saves, f.SourceText(plan))
		}
		saved := strings.Join(saves, " => ")
		for i, s := range run.pending() {
			verdict := model.Rejected
			if r.IntN(2) == 0 {
				verdict = model.Accepted
			}
			if out, err := f.Decide(t.Context(), []string{s.ID}, verdict, person); err != nil || len(out.Failed) > 0 {
				t.Fatalf("decision %d: %+v, %v", i, out, err)
			}
		}
		got := f.SourceText(plan)
		count := func(word string) int { return strings.Count(got, word) }
		for _, word := range mine {
			if n := count(word); n != 1 {
				t.Fatalf("%q, saved as %q: after the decisions %q has %q %d times, want it once", raw, saved, got, word, n)
			}
		}
		for _, word := range theirs {
			if n := count(word); n > 1 {
				t.Fatalf("%q, saved as %q: after the decisions %q has %q %d times, want it at most once", raw, saved, got, word, n)
			}
		}
	})
}

// Half of a mark that a user leaves marks nothing: the text around it is as it was, in every view and after every decision,
// and the next write of relayfs takes it out of the file.
func TestHalfOfAMarkMarksNothing(t *testing.T) {
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		f := bridgetest.New(t, map[string]string{plan: "- one\n- x\n- two\n\nMore.\n\n- three\n- y\n- four\n"})
		run := &running{f.Workspace, t, nil}
		run.replace(ann, "- x\n", "")
		run.replace(ann, "- y\n", "")
		f.Person(plan, strings.Replace(f.SourceText(plan), "- x--}\n", "", 1)) // as "delete line" of an editor does
		v, err := f.Open(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if want := "- one\n- two\n\nMore.\n\n- three\n- four\n"; v.Text() != want {
			t.Errorf("agents read %q, want %q", v.Text(), want)
		}
		list := run.pending()
		if len(list) != 1 || !strings.Contains(list[0].Old, "- y") {
			t.Fatalf("waiting: %+v, want y", list)
		}
		if _, err := f.Decide(t.Context(), []string{list[0].ID}, verdict, person); err != nil {
			t.Fatal(err)
		}
		want := map[model.Verdict]string{model.Accepted: "- one\n- two\n\nMore.\n\n- three\n- four\n", model.Rejected: "- one\n- two\n\nMore.\n\n- three\n- y\n- four\n"}
		if got := f.SourceText(plan); got != want[verdict] {
			t.Errorf("%s: %q, want %q", verdict, got, want[verdict])
		}
	}
}

// Half of a mark that a user leaves belongs to no mark of the user: an undo leaves the text that the user wrote beside it as
// it was.
func TestHalfOfAMarkTakesNoOther(t *testing.T) {
	for _, mark := range []string{"{++more ++}", "{--more --}"} {
		for _, half := range []string{mark[:3], mark[len(mark)-3:]} {
			for _, mine := range []string{"{++mine++}", "{--mine--}", "{++ mine", "{-- mine", "mine ++}", "mine --}"} {
				for _, text := range []string{"One %s.\n\nmine\n\nEnd b.\n", "mine\n\nOne %s.\n\nEnd b.\n"} {
					has, writes := "a", "more a"
					if mark[1] == '-' {
						has, writes = writes, has
					}
					f := bridgetest.New(t, map[string]string{plan: fmt.Sprintf(text, has)})
					run := &running{f.Workspace, t, nil}
					run.replace(ann, "End b", "End new b")
					run.decideAll(model.Rejected)
					run.replace(ann, "One "+has, "One "+writes)
					f.Person(plan, strings.Replace(f.SourceText(plan), "mine", mine, 1))
					f.Person(plan, strings.Replace(f.SourceText(plan), mark, strings.Replace(mark, half, "", 1), 1))
					saved := f.SourceText(plan)
					canonical := func() string {
						v, err := f.Open(t.Context(), plan)
						if err != nil {
							t.Fatal(err)
						}
						return v.Canonical()
					}
					want := strings.Replace(canonical(), "End b", "End {++new ++}b", 1)
					out, err := f.Undo(t.Context(), "", person)
					if got := canonical(); err != nil || len(out.Failed) > 0 || got != want {
						t.Errorf("%q: undo makes %q, want %q: %v %v", saved, got, want, out.Failed, err)
					}
				}
			}
		}
	}
}
