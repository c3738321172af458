package reviewqueue

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

func TestWithIDs(t *testing.T) {
	list := []Suggestion{{ID: "abc1"}, {ID: "abd2"}, {ID: "ab"}}
	for prefix, want := range map[string]string{"abc": "abc1", "ab": "ab", "abd2": "abd2", "a": "", "x": ""} {
		got, err := WithIDs(list, func(s *Suggestion) string { return s.ID }, []string{prefix})
		if (err == nil) != (want != "") || err == nil && (len(got) != 1 || got[0].ID != want) {
			t.Errorf("%s: %+v, %v", prefix, got, err)
		}
	}
}

func TestSelector(t *testing.T) {
	s := Suggestion{ID: "a", Path: "Notes/Projects/Plan.md", Kind: "addition", Author: "ann", Session: "s1"}
	for _, c := range []struct {
		sel  Selector
		want bool
	}{
		{Selector{}, true},
		{Selector{Glob: "Notes/**"}, true},
		{Selector{Glob: "Plan.md"}, true},
		{Selector{Glob: "Other/**"}, false},
		{Selector{Author: "ann", Session: "s1", Kind: "addition"}, true},
		{Selector{Author: "ann", Session: "s2"}, false},
		{Selector{Kind: "deletion"}, false},
	} {
		err := c.sel.ReadGlob(func() ([]string, error) { return nil, nil })
		if got := c.sel.Matches(&s); got != c.want || err != nil {
			t.Errorf("%+v: %v, %v", c.sel, got, err)
		}
	}
}

// What changes is drawn in whole words.
func TestInPieces(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"chutney", "every", "k:a o:chutney n:every k: b"},
		{"three loud frogs", "two loud frogs", "k:a o:three n:two k: loud frogs k: b"},
		{"", "new", "k:a n:new k: b"},
	} {
		s := Suggestion{Line: 1, Kind: "replacement", Old: c.old, New: c.new, Before: "a", After: " b"}
		var got []string
		for _, p := range s.InPieces() {
			got = append(got, string(p.Kind[0])+":"+p.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q to %q: %q, want %q", c.old, c.new, strings.Join(got, " "), c.want)
		}
	}
}

// The context of a suggestion is the accepted view: other suggestions' marks are not in it.
func TestQueueListsContext(t *testing.T) {
	const raw = "1\n2\n3 {--x--}{++y++}\n4 {++new++} end\n5 {--gone--}\n6\n7\n"
	f := bridgetest.New(t, map[string]string{"Notes/a.md": raw})
	q := New(f.Workspace)
	list, err := q.List(t.Context(), true)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if s := list[1]; s.Before != "2\n3 y\n4 " || s.After != " end\n5 \n6" {
		t.Errorf("context %q, %q", s.Before, s.After)
	}
	if s := list[0]; s.Before != "1\n2\n3 " {
		t.Errorf("context at the top %q", s.Before)
	}
	if s := list[2]; s.After != "\n6\n7" {
		t.Errorf("context at the end %q", s.After)
	}
}

// A decision that is refused says how many suggestions are to be looked at again.
func TestConflictCounts(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": "One {++two++} three {++four++}.\n"})
	q := New(f.Workspace)
	list, err := q.List(t.Context(), false)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for want, shown := range map[string]map[string]string{
		"1 suggestion is not pending any more":                                              {"gone": "x"},
		"1 suggestion has changed since it was shown":                                       {list[0].ID: "x"},
		"2 suggestions have changed since they were shown":                                  {list[0].ID: "x", list[1].ID: "x"},
		"1 suggestion is not pending any more, 1 suggestion has changed since it was shown": {"gone": "x", list[0].ID: "x", list[1].ID: list[1].Revision},
	} {
		_, err := q.Decide(t.Context(), DecideRequest{Verdict: model.Accepted, Shown: shown})
		if err == nil || err.Error() != "nothing was decided: "+want+"; look again" {
			t.Errorf("%v: %v, want %s", shown, err, want)
		}
	}
	if _, err := q.Decide(t.Context(), DecideRequest{Verdict: model.Changed, Shown: map[string]string{list[0].ID: list[0].Revision}}); err == nil || !strings.Contains(err.Error(), "no text") {
		t.Errorf("a change without a text: %v", err)
	}
}

func TestOutcomeErr(t *testing.T) {
	q := New(bridgetest.New(t, map[string]string{"N/a.md": ""}).Workspace)
	out := q.outcome(bridge.Outcome{Batch: "b", Missing: []string{"a1"}, Failed: map[model.Path]error{"N/a.md": model.ErrOffline}}, model.Accepted)
	if out.Batch != "" {
		t.Errorf("the batch %q has nothing to undo", out.Batch)
	}
	err := out.Err()
	if err == nil || !strings.Contains(err.Error(), "a1") || !strings.Contains(err.Error(), `"N/a.md": nothing changed`) {
		t.Errorf("%v", err)
	}
	if err := (&Outcome{}).Err(); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// Of a note that is one long line, a suggestion's context is a bounded part.
func TestContextOfALongLine(t *testing.T) {
	long := strings.Repeat("語 ", 100_000)
	f := bridgetest.New(t, map[string]string{"N/a.md": long + "{++new++}" + long})
	q := New(f.Workspace)
	list, err := q.List(t.Context(), true)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d suggestions, %v", len(list), err)
	}
	before, after := list[0].Before, list[0].After
	if len(before) > maxContext+8 || !strings.HasPrefix(before, "… ") || !strings.HasSuffix(before, "語 ") || !utf8.ValidString(before) {
		t.Errorf("before: %d bytes, %.20q", len(before), before)
	}
	if len(after) > maxContext+8 || !strings.HasSuffix(after, " …") || !strings.HasPrefix(after, "語 ") || !utf8.ValidString(after) {
		t.Errorf("after: %d bytes, %.20q", len(after), after)
	}
}

// A note comes with the places of its suggestions, and with its threads.
func TestNote(t *testing.T) {
	const raw = "a {++b++}{>>why?<<} c {>>look<<} {--d--}{++e++}\n"
	f := bridgetest.New(t, map[string]string{"N/a.md": raw})
	q := New(f.Workspace)
	n, err := q.Note(t.Context(), "N/a.md")
	if err != nil {
		t.Fatal(err)
	}
	var marks []string
	for _, s := range n.Suggestions {
		for _, at := range s.Places {
			marks = append(marks, n.Text[at.Start:at.End])
		}
	}
	if want := []string{"{++b++}", "{--d--}{++e++}"}; n.Text != raw || !slices.Equal(marks, want) {
		t.Errorf("marks %q in %q, want %q in %q", marks, n.Text, want, raw)
	}
	var threads []string
	for _, th := range n.Threads {
		threads = append(threads, fmt.Sprintf("%s on %s: %s", n.Text[th.Start:th.End], th.Suggestion, th.Comments[0].Text))
	}
	if want := []string{"{>>why?<<} on " + n.Suggestions[0].ID + ": why?", "{>>look<<} on : look"}; !slices.Equal(threads, want) {
		t.Errorf("threads %q, want %q", threads, want)
	}
	if _, err := q.Note(t.Context(), "N/b.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no note: %v", err)
	}
}

// A note is shown in one state: its suggestions are those of its text, whatever is decided while it is read.
func TestNoteIsOfOneState(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": strings.Repeat("Some {--garden--}{++allotment++} and more.\n\n", 40)})
	q := New(f.Workspace)
	list, err := q.List(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		for _, id := range IDsOf(list) {
			if _, err := q.Decide(t.Context(), DecideRequest{Unseen: true, IDs: []string{id}, Verdict: model.Accepted}); err != nil {
				t.Error(err)
			}
		}
	}()
	defer func() { <-decided }()
	for going := true; going && !t.Failed(); {
		select {
		case <-decided:
			going = false
		default:
		}
		n, err := q.Note(t.Context(), "N/a.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range n.Suggestions {
			if got, want := n.Text[s.Places[0].Start:s.Places[len(s.Places)-1].End], "{--garden--}{++allotment++}"; got != want {
				t.Errorf("%s is at %q, want %q", s.ID, got, want)
			}
		}
	}
}

// The log shows each batch whole, however large it is, and an undo names the entries that it has undone.
func TestLogIsOfWholeBatches(t *testing.T) {
	files := map[string]string{}
	for i := range 7 {
		files[fmt.Sprintf("N/%d.md", i)] = "a {++b++}\n"
	}
	f := bridgetest.New(t, files)
	q := New(f.Workspace)
	list, err := q.List(t.Context(), false)
	if err != nil || len(list) != 7 {
		t.Fatalf("%d pending: %v", len(list), err)
	}
	sizes := []int{1, 4, 2} // newest first
	at := len(list)
	for i := range sizes {
		n := sizes[len(sizes)-1-i]
		if out, err := q.Decide(t.Context(), DecideRequest{IDs: IDsOf(list[at-n : at]), Unseen: true, Verdict: model.Accepted}); err != nil || out.Notes != n {
			t.Fatalf("%+v, %v", out, err)
		}
		at -= n
	}
	for limit, want := range []int{0, 1, 5, 7, 7} {
		if log, err := q.Log(t.Context(), limit); err != nil || len(log) != want || len(Batches(log)) != min(limit, len(sizes)) {
			t.Errorf("at most %d batches: %d entries, want %d: %v", limit, len(log), want, err)
		}
	}
	out, err := q.Undo(t.Context(), UndoRequest{Newest: true})
	if err != nil || len(out.Undone) != 1 || out.Undone[0].Path != "N/0.md" || len(out.Undone[0].Suggestions) != 1 {
		t.Errorf("%+v, %v", out.Undone, err)
	}
}

// A comment at the offsets 0 and 0 is at the start of the note.
func TestCommentAtTheStart(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": "One line.\n"})
	q := New(f.Workspace)
	note, err := q.Note(t.Context(), "N/a.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Comment(t.Context(), CommentRequest{Path: "N/a.md", Revision: note.Revision, Text: "why?"}); err != nil {
		t.Fatal(err)
	}
	if got := f.SourceText("N/a.md"); !strings.HasPrefix(got, "{>>") || !strings.HasSuffix(got, "<<}One line.\n") {
		t.Errorf("the note is %q", got)
	}
}
