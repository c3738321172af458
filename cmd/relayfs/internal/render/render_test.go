package render

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

func TestPainter(t *testing.T) {
	s := reviewqueue.Suggestion{
		ID: "a1", Path: "N/a.md", Line: 2, Kind: "replacement", Before: "Top\n\nWe ", After: " here.\nNext",
		Old: "drink black tea", New: "drink green tea\x1b[2J", Author: "ann", Comments: []string{"why?"},
	}
	plain := Painter{}.Diff(&s)
	want := "a1  N/a.md:2  replacement  ann\n    Top\n\n    We drink {--black--}{++green++} tea{++␛[2J++} here.\n    Next\n    comment: why?\n"
	if plain != want {
		t.Errorf("plain\n%q, want\n%q", plain, want)
	}
	s.New = "drink green tea"
	coloured := Painter{colour: true}.Diff(&s)
	if want := "We drink " + sgrOld + "black" + sgrReset + sgrNew + "green" + sgrReset + " tea here."; !strings.Contains(coloured, want) {
		t.Errorf("coloured\n%q, want\n%q in it", coloured, want)
	}
	if got, want := (Painter{colour: true}).SGR(sgrNew, "a\nb\n"), sgrNew+"a"+sgrReset+"\n"+sgrNew+"b"+sgrReset+"\n"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// What agents say of their sessions is shown as text on one line, whatever is in it.
func TestSessionNotesAreShown(t *testing.T) {
	note := model.SessionNote{Name: "tides\x1b[31m", Purpose: "two\nlines"}
	s := reviewqueue.Suggestion{ID: "a", Path: "F/N.md", Line: 1, Kind: "addition", New: "x", Author: "ann", Session: "s1", SessionNote: &note}
	var out strings.Builder
	asked := model.Approval{Operation: "delete", Question: "ann wants to\ndelete it.", Answer: model.AnswerDeclined}
	List(&out, []reviewqueue.Suggestion{s})
	Diffs(&out, []reviewqueue.Suggestion{s})
	Log(&out, []reviewqueue.LogEntry{
		{Batch: "1", Action: reviewqueue.SessionNamed, By: "ann", Session: "s1", SessionNote: &note},
		{Batch: "2", Action: reviewqueue.Asked, By: "ann", Session: "s1", Approval: &asked},
	})
	if n := strings.Count(out.String(), "tides"); n != 4 {
		t.Errorf("the name is told %d times, want 4:\n%s", n, out.String())
	}
	if lines := strings.Count(out.String(), "\n"); lines != 9 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d lines, want 9:\n%q", lines, out.String())
	}
	if !strings.Contains(out.String(), "asked, and the user declined  ann wants to") {
		t.Errorf("no answer in\n%s", out.String())
	}
}

// Sessions are told where there are any.
func TestSessionsAreTold(t *testing.T) {
	item := func(id, author, session string) reviewqueue.Suggestion {
		return reviewqueue.Suggestion{ID: id, Path: "F/N.md", Line: 1, Kind: "addition", New: "x", Author: author, Session: session}
	}
	ann, bob, person := item("a", "ann", "s1"), item("c", "bob", "s3"), item("d", "", "")
	for _, tt := range []struct {
		name string
		show func(io.Writer)
		want []string // sessions
	}{
		{"show", func(w io.Writer) { Diffs(w, []reviewqueue.Suggestion{ann, person, bob}) }, []string{"s1", "s3"}},
		{"log", func(w io.Writer) {
			Log(w, []reviewqueue.LogEntry{
				{Batch: "1", Path: "F/N.md", Action: "accepted", Suggestions: []reviewqueue.LogItem{{DecidedItem: model.DecidedItem{ID: "a", Session: "s1"}}, {DecidedItem: model.DecidedItem{ID: "d"}}}},
				{Batch: "2", Path: "F/N.md", Action: reviewqueue.FrontMatterChanged, By: "ann", Session: "s2"},
			})
		}, []string{"s1", "s2"}},
	} {
		var out strings.Builder
		tt.show(&out)
		var got []string
		for _, m := range regexp.MustCompile(`session:? (\S+)`).FindAllStringSubmatch(out.String(), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s tells of sessions %q, want %q:\n%s", tt.name, got, tt.want, out.String())
		}
	}
}
