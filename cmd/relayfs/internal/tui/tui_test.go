package tui

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/diffwrap"
)

// fakeQueue is a queue without notes: what is decided leaves the list.
type fakeQueue struct {
	pending []reviewqueue.Suggestion
	decided []reviewqueue.DecideRequest
	undone  []reviewqueue.UndoRequest
	log     []reviewqueue.LogEntry
	err     error

	notes     map[string]reviewqueue.Note
	threads   []reviewqueue.Thread
	commented []reviewqueue.CommentRequest
}

func (q *fakeQueue) List(context.Context, bool) ([]reviewqueue.Suggestion, error) {
	return slices.Clone(q.pending), nil
}

func (q *fakeQueue) Note(_ context.Context, path string) (reviewqueue.Note, error) {
	if n, ok := q.notes[path]; ok {
		return n, nil
	}
	return reviewqueue.Note{}, errors.New("there are no notes here")
}

func (q *fakeQueue) Threads(context.Context, string) ([]reviewqueue.Thread, error) {
	return q.threads, nil
}

func (q *fakeQueue) Comment(_ context.Context, r reviewqueue.CommentRequest) (reviewqueue.Outcome, error) {
	q.commented = append(q.commented, r)
	return reviewqueue.Outcome{Batch: "batch comment", Verdict: model.Commented, Notes: 1}, q.err
}

func (q *fakeQueue) Resolve(context.Context, reviewqueue.ResolveRequest) (reviewqueue.Outcome, error) {
	return reviewqueue.Outcome{Verdict: model.Resolved, Notes: 1}, q.err
}

func (q *fakeQueue) Decide(_ context.Context, r reviewqueue.DecideRequest) (reviewqueue.Outcome, error) {
	if q.err != nil {
		return reviewqueue.Outcome{}, q.err
	}
	for _, s := range q.pending {
		if seen, ok := r.Shown[s.ID]; ok && seen != s.Revision {
			return reviewqueue.Outcome{}, reviewqueue.Conflict("it has changed")
		}
	}
	r.IDs = slices.Sorted(maps.Keys(r.Shown))
	q.decided = append(q.decided, r)
	out := reviewqueue.Outcome{Batch: "batch " + strings.Join(r.IDs, " "), Verdict: r.Verdict, Notes: 1}
	q.pending = slices.DeleteFunc(q.pending, func(s reviewqueue.Suggestion) bool {
		if !slices.Contains(r.IDs, s.ID) {
			return false
		}
		out.Suggestions = append(out.Suggestions, s)
		return true
	})
	return out, nil
}

func (q *fakeQueue) Undo(_ context.Context, r reviewqueue.UndoRequest) (reviewqueue.Outcome, error) {
	q.undone = append(q.undone, r)
	s := reviewqueue.Suggestion{ID: strings.TrimPrefix(r.Batch, "batch "), Path: "N/zz.md"}
	if len(r.IDs) > 0 {
		s.ID = r.IDs[0]
	}
	q.pending = append(q.pending, s)
	return reviewqueue.Outcome{Verdict: model.Undone, Notes: 1, Suggestions: []reviewqueue.Suggestion{s}}, nil
}

func (q *fakeQueue) Log(context.Context, int) ([]reviewqueue.LogEntry, error) { return q.log, nil }

func (q *fakeQueue) Follow(context.Context, uint64, func(reviewqueue.Change) error) error {
	return errors.New("the tests here announce changes themselves")
}

// sitting is a review without a terminal: commands run at once, except for the one that waits for changes.
type sitting struct {
	t *testing.T
	q *fakeQueue
	m reviewModel
}

func newSitting(t *testing.T, list ...reviewqueue.Suggestion) *sitting {
	s := &sitting{t: t, q: &fakeQueue{pending: list}}
	s.m = newModel(reviewqueue.Selector{}, render.Painter{}, commands{t.Context(), s.q})
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.send(s.m.cmds.list(s.m.lists)())
	return s
}

// send gives the reviewModel a message and all that follows from it.
func (s *sitting) send(msg tea.Msg) {
	next, cmd := s.m.Update(msg)
	s.m = next.(reviewModel)
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg, nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			if msg := cmd(); msg != nil {
				s.send(msg)
			}
		}
	default:
		s.send(msg)
	}
}

func (s *sitting) press(keys ...string) {
	for _, k := range keys {
		s.send(keyOf(k))
	}
}

func keyOf(name string) tea.KeyMsg {
	special := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace,
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome,
		"end": tea.KeyEnd, "delete": tea.KeyDelete, "ctrl+u": tea.KeyCtrlU, "ctrl+k": tea.KeyCtrlK, "pgdown": tea.KeyPgDown,
	}
	if typ, ok := special[name]; ok {
		return tea.KeyMsg{Type: typ}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func (s *sitting) at(id string) {
	s.t.Helper()
	current := s.m.current()
	if current == nil || current.ID != id {
		s.t.Fatalf("at %+v, want %s", current, id)
	}
}

func cards() []reviewqueue.Suggestion {
	return []reviewqueue.Suggestion{
		{ID: "a1", Path: "N/a.md", Line: 1, Kind: "replacement", Old: "tea", New: "coffee", Author: "Claude", Before: "some ", After: " here"},
		{ID: "a2", Path: "N/a.md", Line: 3, Kind: "addition", New: "more", Author: "ann"},
		{ID: "b1", Path: "N/b.md", Line: 1, Kind: "deletion", Old: "less", Author: "ann"},
	}
}

func TestReviewWalks(t *testing.T) {
	s := newSitting(t, cards()...)
	for _, step := range []struct{ key, id string }{
		{"j", "a2"}, {"down", "b1"}, {"j", "b1"}, {"k", "a2"}, {"up", "a1"}, {"k", "a1"}, {"]c", "a2"}, {"[c", "a1"},
	} {
		s.press(step.key)
		s.at(step.id)
	}
	s.press("]", "c")
	s.at("a2")
}

func TestReviewDecides(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("j", "y")
	s.at("b1") // what followed, not the first
	s.press("n")
	s.at("a1")
	s.press("u")
	s.at("b1")
	if got := s.q.undone[0]; got.Batch != "batch b1" || got.IDs != nil {
		t.Errorf("undone %+v", got)
	}
	s.press("u", "u")
	if len(s.q.undone) != 2 || !strings.Contains(s.m.message, "nothing to undo") {
		t.Errorf("undone %+v, message %q", s.q.undone, s.m.message)
	}
	for i, want := range []reviewqueue.DecideRequest{
		{IDs: []string{"a2"}, Verdict: model.Accepted}, {IDs: []string{"b1"}, Verdict: model.Rejected},
	} {
		if got := s.q.decided[i]; got.Verdict != want.Verdict || !slices.Equal(got.IDs, want.IDs) {
			t.Errorf("decision %d: %+v, want %+v", i, got, want)
		}
	}
	if got, want := s.m.summary(), "1 accepted, 1 rejected, 2 undone, 3 suggestions pending"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}

// Keys that arrive faster than decisions are made decide what follows, each on its own suggestion; a paste decides nothing.
func TestReviewTypedAhead(t *testing.T) {
	s := newSitting(t, cards()...)
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("yyy"), Paste: true})
	s.at("a1")
	s.press("yn")
	s.at("b1")
	if len(s.q.decided) != 2 || s.q.decided[0].IDs[0] != "a1" || s.q.decided[1].IDs[0] != "a2" {
		t.Errorf("decided %+v", s.q.decided)
	}
}

func TestReviewOfANote(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("A")
	s.at("b1")
	var many []reviewqueue.Suggestion
	for i := range reviewqueue.ManyAtOnce + 1 {
		many = append(many, reviewqueue.Suggestion{ID: string(rune('a' + i)), Path: "N/a.md"})
	}
	s = newSitting(t, many...)
	s.press("R")
	if len(s.q.decided) > 0 || !strings.Contains(s.m.View(), "Reject 11 suggestions of this note? y/n") {
		t.Fatalf("not asked:\n%s", s.m.View())
	}
	s.press("n")
	if len(s.q.decided) > 0 {
		t.Fatal("rejected against the answer")
	}
	s.press("R", "y")
	if len(s.q.decided) != 1 || len(s.q.pending) != 0 || !strings.Contains(s.m.View(), "There is nothing to review") {
		t.Errorf("decided %+v:\n%s", s.q.decided, s.m.View())
	}
}

func TestReviewEdits(t *testing.T) {
	s := newSitting(t, cards()...)
	s.send(editedMsg{err: errors.New("nothing was changed")})
	if len(s.q.decided) > 0 || !strings.Contains(s.m.View(), "nothing was changed") {
		t.Fatalf("an unchanged text decides %+v:\n%s", s.q.decided, s.m.View())
	}
	s.send(editedMsg{id: "a1", text: "coffin\n!"})
	if len(s.q.decided) != 1 || *s.q.decided[0].Text != "coffin\n!" || s.q.decided[0].Verdict != model.Changed {
		t.Errorf("decided %+v", s.q.decided)
	}
}

// A decision is on the version that the user saw. The text that the user wrote in the editor stays in its file.
func TestReviewRefusesAnUnseenVersion(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("r", "no")
	s.q.pending[0].Revision = "later"
	s.press("enter")
	if got := s.m.current().Revision; got != "later" {
		t.Errorf("after the refusal the review shows revision %q", got)
	}
	file := filepath.Join(t.TempDir(), "edited.md")
	if err := os.WriteFile(file, []byte("coffin"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.send(editedMsg{id: "a1", text: "coffin", file: file})
	if len(s.q.decided) > 0 || !strings.Contains(s.m.message, "it has changed; your text is in "+file) {
		t.Errorf("decided %+v, message %q", s.q.decided, s.m.message)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	s.send(editedMsg{id: "a1", revision: "later", text: "coffin", file: file})
	if _, err := os.Stat(file); len(s.q.decided) != 1 || err == nil {
		t.Errorf("decided %+v, and the file of the editor: %v", s.q.decided, err)
	}
}

func TestReviewSuspends(t *testing.T) {
	s := newSitting(t, cards()...)
	for _, key := range []string{"j", "r"} {
		s.press(key)
		if _, cmd := s.m.Update(tea.KeyMsg{Type: tea.KeyCtrlZ}); cmd == nil {
			t.Errorf("Ctrl-Z after %s does nothing", key)
		}
	}
}

func TestReviewAsksForReasons(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("r", "no", "esc")
	s.at("a1")
	if len(s.q.decided) > 0 {
		t.Fatal("Esc decides")
	}
	s.press("r", "too", " ", "strong")
	if !strings.Contains(s.m.View(), "Reject because: too strong") {
		t.Errorf("view\n%s", s.m.View())
	}
	s.press("enter")
	s.at("a2")
	s.press("a", "enter") // none after all
	s.press("r", strings.Repeat("x", reviewqueue.MaxReason+1), "fits", "enter", "a", "r", "y")
	want := []reviewqueue.DecideRequest{
		{Verdict: model.Rejected, Reason: "too strong"}, {Verdict: model.Accepted}, {Verdict: model.Rejected, Reason: "fits"},
	}
	if len(s.q.decided) != len(want) {
		t.Fatalf("decided %+v", s.q.decided)
	}
	for i, got := range s.q.decided {
		if got.Verdict != want[i].Verdict || got.Reason != want[i].Reason {
			t.Errorf("decision %d: %+v, want %+v", i, got, want[i])
		}
	}
}

// A proposal reads as in the list and has no text to edit; one that is stale is accepted only when the person says so twice.
func TestReviewOfProposals(t *testing.T) {
	rename := reviewqueue.Suggestion{ID: "p1", Path: "N/Plan.md", Kind: "rename", Old: "N/Plan.md", New: "N/Sub/Goal.md"}
	deleted := reviewqueue.Suggestion{ID: "p2", Path: "N/Old", Kind: "delete", Old: "N/Old", Dir: true, Stale: true}
	s := newSitting(t, rename, deleted)
	if view := s.m.View(); !strings.Contains(view, "    rename to N/Sub/Goal.md") || strings.Contains(view, "{--") {
		t.Errorf("a rename reads\n%s", view)
	}
	s.press("e")
	if s.m.mode != browsing || !strings.Contains(s.m.View(), "not edited") {
		t.Errorf("a proposal is edited:\n%s", s.m.View())
	}
	s.press("y")
	s.at("p2")
	if view := s.m.View(); !strings.Contains(view, "    delete the folder (changed since)") {
		t.Errorf("a deletion reads\n%s", view)
	}
	s.press("y", "n")
	if len(s.q.decided) != 1 || s.q.decided[0].Force {
		t.Fatalf("decided %+v", s.q.decided)
	}
	s.press("a", "fine", "enter", "y")
	if len(s.q.decided) != 2 || !s.q.decided[1].Force || s.q.decided[1].Reason != "fine" {
		t.Errorf("decided %+v", s.q.decided)
	}
}

// The view of a review with conditions that nothing meets does not offer the keys of the filter, which cannot change them.
func TestNothingMeetsTheConditions(t *testing.T) {
	s := newSitting(t, cards()...)
	s.m.sel = reviewqueue.Selector{Author: "nobody"}
	s.m.suggestionList = s.m.refilter()
	if got := s.m.View(); !strings.Contains(got, "No suggestions match") || strings.Contains(got, "changes the filter") {
		t.Errorf("view\n%s", got)
	}
}

// $EDITOR is a command of the shell, as for git.
func TestEditorWithQuotes(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", `sh -c "printf edited > \"\$1\"" x`)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "a b"))
	if err := os.Mkdir(os.Getenv("TMPDIR"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd, file, err := editorOf("text")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "edited" {
		t.Errorf("%q, %v", got, err)
	}
}

// The text of an editor arrives as it is or, if it is in another encoding, not at all: it then stays in its file.
func TestReadEdited(t *testing.T) {
	for saved, want := range map[string]string{"new\n": "new", "new": "new", "a\nb\n\n": "a\nb\n", "a\r\nb\r\n": "a\r\nb", "": "", "caf\xe9\n": "not UTF-8", "old\n": "nothing was changed"} {
		file := filepath.Join(t.TempDir(), "edited.md")
		if err := os.WriteFile(file, []byte(saved), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readEdited(file, "old", nil)
		if err != nil {
			got = err.Error()
		}
		if _, gone := os.Stat(file); !strings.Contains(got, want) || err == nil && got != want || (gone != nil) != (saved == "old\n") {
			t.Errorf("%q: %q, and the file: %v", saved, got, gone)
		}
	}
	file := filepath.Join(t.TempDir(), "edited.md")
	for saved, want := range map[string]string{"new\n": "the text is in " + file, "old\n": "set $EDITOR"} {
		if err := os.WriteFile(file, []byte(saved), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readEdited(file, "old", errors.New("exit status 1"))
		if _, gone := os.Stat(file); err == nil || !strings.Contains(err.Error(), want) || (gone != nil) != (saved == "old\n") {
			t.Errorf("%q, after which the editor failed: %v, and the file: %v", saved, err, gone)
		}
	}
}

func TestReviewFilters(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("j", "j", "/", "CLAUDE")
	s.at("a1")
	s.press("enter", "A")
	if len(s.q.decided) != 1 || len(s.q.decided[0].IDs) != 1 {
		t.Errorf("the whole note under a filter: %+v", s.q.decided)
	}
	if !strings.Contains(s.m.View(), "No suggestions match") {
		t.Errorf("view\n%s", s.m.View())
	}
	s.press("/", "esc")
	s.at("a2")
}

// What others do meanwhile is shown, and the person stays where they were.
func TestReviewRefreshes(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("j")
	s.q.pending = slices.Delete(s.q.pending, 0, 1)
	s.send(s.m.cmds.list(s.m.lists)())
	s.at("a2")
	s.q.pending = nil
	s.send(s.m.cmds.list(s.m.lists)())
	if s.m.current() != nil {
		t.Errorf("at %+v", s.m.current())
	}
	s.press("y", "n", "e", "A", "R", "j", "k") // on nothing
	if len(s.q.decided) > 0 {
		t.Errorf("decided %+v", s.q.decided)
	}
}

// A key that was meant for the suggestion shown before decides on no other one, and on no other version.
func TestReviewDoesNotDecideOnWhatHasJustAppeared(t *testing.T) {
	for _, key := range []string{"y", "n", "A", "a", "e"} {
		for what, change := range map[string]func(*fakeQueue){
			"gone":    func(q *fakeQueue) { q.pending = q.pending[1:] },
			"changed": func(q *fakeQueue) { q.pending[0].Revision, q.pending[0].New = "later", "milk" },
		} {
			s := newSitting(t, cards()...)
			change(s.q)
			s.send(s.m.cmds.list(s.m.lists)())
			s.press(key)
			if len(s.q.decided) > 0 || s.m.mode != browsing {
				t.Errorf("%s after the suggestion is %s: decided %+v, mode %v", key, what, s.q.decided, s.m.mode)
			}
			s.press("y")
			if len(s.q.decided) != 1 {
				t.Errorf("%s after the suggestion is %s: then y decides %+v", key, what, s.q.decided)
			}
		}
	}
}

// A list that was read before a decision does not bring back what was decided.
func TestReviewDropsOutdatedLists(t *testing.T) {
	s := newSitting(t, cards()...)
	before := s.m.cmds.list(s.m.lists)()
	s.press("y")
	s.send(before)
	s.at("a2")
}

func TestReviewShowsErrors(t *testing.T) {
	s := newSitting(t, cards()...)
	s.q.err = errors.New("disk is on fire")
	s.press("y")
	s.at("a1")
	if !strings.Contains(s.m.View(), "disk is on fire") {
		t.Errorf("view\n%s", s.m.View())
	}
	s.q.err = nil
	s.press("y")
	s.at("a2")
}

func TestReviewView(t *testing.T) {
	s := newSitting(t, cards()...)
	for _, want := range []string{"1 of 3", "N/a.md:1", "some {--tea--}{++coffee++} here", "Claude", "q quit"} {
		if !strings.Contains(s.m.View(), want) {
			t.Errorf("%q is missing in\n%s", want, s.m.View())
		}
	}
	s.press("?")
	if !strings.Contains(s.m.View(), "undo the last") {
		t.Errorf("no help in\n%s", s.m.View())
	}
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 20, Height: 6}, {Width: 1, Height: 1}} {
		s.press("j")
		s.send(size)
		if n := strings.Count(s.m.View(), "\n") + 1; size.Height > 3 && n > size.Height {
			t.Errorf("%d lines in a window of %d", n, size.Height)
		}
	}
}

// What a suggestion changes is on the screen, however much text is before it, and the rest of it can be reached.
func TestReviewOfLongText(t *testing.T) {
	added := strings.Repeat("one more line\n", 60) + "the end"
	s := newSitting(t,
		reviewqueue.Suggestion{ID: "a1", Path: "N/a.md", Line: 1, Kind: "replacement", Before: strings.Repeat("word ", 1000), Old: "tea", New: "coffee"},
		reviewqueue.Suggestion{ID: "a2", Path: "N/a.md", Line: 2, Kind: "addition", New: added})
	s.send(tea.WindowSizeMsg{Width: 30, Height: 8})
	if view := s.m.View(); !strings.Contains(view, "coffee") || strings.Count(view, "\n") > 7 {
		t.Errorf("the change is not seen:\n%s", view)
	}
	s.press("j")
	if view := s.m.View(); !strings.Contains(view, "one more line") || strings.Contains(view, "the end") {
		t.Errorf("view\n%s", view)
	}
	for range 40 {
		s.press("pgdown")
	}
	if view := s.m.View(); !strings.Contains(view, "the end") || !strings.Contains(view, "PgUp") {
		t.Errorf("the end is out of reach:\n%s", view)
	}
}

func TestEditor(t *testing.T) {
	for _, c := range []struct {
		start string
		keys  []string
		want  string // with the cursor as |
	}{
		{"ab", []string{"left", "x"}, "ax|b"},
		{"ab", []string{"home", "delete", "end", "c"}, "bc|"},
		{"e\u0301\U0001F469\u200d\U0001F680", []string{"backspace"}, "e\u0301|"},
		{"e\u0301", []string{"left", "right", "backspace"}, "|"},
		{"ab", []string{"left", "ctrl+u"}, "|b"},
		{"ab", []string{"left", "ctrl+k"}, "a|"},
		{"", []string{"left", "right", "backspace", "delete"}, "|"},
	} {
		e := editor{before: c.start}
		for _, k := range c.keys {
			e = e.key(keyOf(k))
		}
		if got := e.before + "|" + e.after; got != c.want {
			t.Errorf("%q %v: %q, want %q", c.start, c.keys, got, c.want)
		}
	}
}

// All hints fit on a small terminal, in every mode.
func TestReviewFitsASmallTerminal(t *testing.T) {
	for _, keys := range [][]string{{}, {"?"}, {"o"}, {"h"}, {"v"}, {"r"}, {"c"}, {"/"}} {
		s := newSitting(t, cards()...)
		s.q.notes = map[string]reviewqueue.Note{"N/a.md": {Text: "some {--tea--}{++coffee++} here\n"}}
		s.q.log = decidedAtOnce()
		s.send(tea.WindowSizeMsg{Width: 60, Height: 15})
		s.press(keys...)
		lines := strings.Split(s.m.View(), "\n")
		if len(lines) > 15 {
			t.Errorf("%v: %d lines\n%s", keys, len(lines), s.m.View())
		}
		whole := newSitting(t, cards()...)
		whole.q.notes, whole.q.log = s.q.notes, s.q.log
		whole.send(tea.WindowSizeMsg{Width: 200, Height: 60})
		whole.press(keys...)
		for _, want := range strings.Split(whole.m.View(), "\n") {
			if want = strings.TrimSpace(want); want != "" && !strings.Contains(s.m.View(), want) {
				t.Errorf("%v: %q does not fit in\n%s", keys, want, s.m.View())
			}
		}
	}
}

func TestReviewPromptShowsItsEnd(t *testing.T) {
	s := newSitting(t, cards()...)
	s.send(tea.WindowSizeMsg{Width: 20, Height: 8})
	s.press("r", "a reason with several words to the end")
	view := s.m.View()
	if !strings.Contains(view, "the end▏") || strings.Count(view, "\n") > 8 {
		t.Errorf("view\n%s", view)
	}
}

func TestReviewOverview(t *testing.T) {
	s := newSitting(t, append(cards(), reviewqueue.Suggestion{ID: "p1", Path: "N/c.md", Kind: "rename", Old: "N/c.md", New: "N/d.md"})...)
	s.q.threads = []reviewqueue.Thread{{ID: "t1", Path: "N/a.md", Line: 7, Comments: []reviewqueue.ThreadComment{{Text: "why?", Author: "ann"}}}}
	s.send(s.m.cmds.list(s.m.lists)())
	s.press("o")
	for _, want := range []string{"N/a.md:7  ann: why?", ">    2  N/a.md", "1  N/b.md", "1  Renames, deletions, files"} {
		if !strings.Contains(s.m.View(), want) {
			t.Errorf("%q is missing in\n%s", want, s.m.View())
		}
	}
	s.press("j", "enter")
	s.at("b1")
	s.press("o", "j", "j", "j", "enter")
	s.at("p1")
	s.press("o", "esc")
	s.at("p1")
}

// A deletion shows what is lost, a rename the links that change, and the whole note is read at a key.
func TestReviewShowsConsequences(t *testing.T) {
	s := newSitting(t,
		reviewqueue.Suggestion{ID: "a1", Path: "N/a.md", Line: 9, Kind: "replacement", Old: "[[c]]", New: "[[d]]", Proposal: "p1"},
		reviewqueue.Suggestion{ID: "p1", Path: "N/c.md", Kind: "rename", Old: "N/c.md", New: "N/d.md"},
		reviewqueue.Suggestion{ID: "p2", Path: "N/b.md", Kind: "delete", Old: "N/b.md"})
	long := strings.Repeat("a line\n", 40)
	s.q.notes = map[string]reviewqueue.Note{
		"N/b.md": {Text: "lost words\n"},
		"N/a.md": {Text: long + "see {--[[c]]--}{++[[d]]++}\n" + long + "the end\n", Suggestions: []reviewqueue.Suggestion{{ID: "a1", Places: []diffwrap.Span{{Start: len(long) + 4, End: len(long) + 26}}}}},
	}
	s.press("v")
	if view := s.m.View(); !strings.Contains(view, "see {--[[c]]--}{++[[d]]++}") {
		t.Errorf("the change is not seen in the whole note\n%s", view)
	}
	s.press("pgdown", "pgdown", "pgdown", "pgdown")
	if view := s.m.View(); !strings.Contains(view, "the end") {
		t.Errorf("the end is out of reach\n%s", view)
	}
	s.press("esc", "j")
	if view := s.m.View(); !strings.Contains(view, "N/a.md:9  {--[[c]]--}{++[[d]]++}") {
		t.Errorf("no links in\n%s", view)
	}
	s.press("j")
	if view := s.m.View(); !strings.Contains(view, "{--lost words") {
		t.Errorf("nothing lost in\n%s", view)
	}
}

func TestReviewAsks(t *testing.T) {
	s := newSitting(t, cards()...)
	s.press("c", "s", "h", "o", "r", "t", "enter")
	if len(s.q.commented) != 1 || s.q.commented[0].Suggestion != "a1" || s.q.commented[0].Text != "short" {
		t.Errorf("asked for %+v", s.q.commented)
	}
	s.at("a1")
	if !strings.Contains(s.m.View(), "it stays pending") {
		t.Errorf("view\n%s", s.m.View())
	}
}

// decidedAtOnce is a log of an undo of one of three suggestions of a batch, of that, and of one that was decided before.
func decidedAtOnce() []reviewqueue.LogEntry {
	item := func(id, text string, undone bool) reviewqueue.LogItem {
		return reviewqueue.LogItem{DecidedItem: model.DecidedItem{ID: id, Kind: "addition", Line: 1, New: text}, Undone: undone}
	}
	return []reviewqueue.LogEntry{
		{Batch: "b3", Path: "N/a.md", Action: "undone", Undoes: "b2", Suggestions: []reviewqueue.LogItem{item("d1", "one", false)}},
		{Batch: "b2", Path: "N/a.md", Action: "accepted", Suggestions: []reviewqueue.LogItem{item("d1", "one", true), item("d2", "two", false)}},
		{Batch: "b2", Path: "N/b.md", Action: "accepted", Suggestions: []reviewqueue.LogItem{item("d3", "three", false)}},
		{Batch: "b1", Path: "N/a.md", Action: "rejected", Suggestions: []reviewqueue.LogItem{item("d4", "four", false)}},
		{Batch: "b0", Path: "N/a.md", Action: "rejected", Undone: true, Suggestions: []reviewqueue.LogItem{item("d5", "five", true)}},
	}
}

// The history takes back one of what was decided at once, or all that is left of it, or what was decided alone.
func TestReviewTakesBackOneOfMany(t *testing.T) {
	for i, want := range []reviewqueue.UndoRequest{
		{Batch: "b2"}, {Batch: "b2", IDs: []string{"d2"}}, {Batch: "b2", IDs: []string{"d3"}}, {Batch: "b1"}, {Batch: "b1"},
	} {
		s := newSitting(t, cards()...)
		s.q.log = decidedAtOnce()
		s.press("h")
		for _, line := range []string{"accepted  2 suggestions", "N/a.md:1  {++two++}", "N/b.md:1  {++three++}", "rejected  N/a.md:1  {++four++}"} {
			if !strings.Contains(s.m.View(), line) {
				t.Errorf("%q is missing in\n%s", line, s.m.View())
			}
		}
		if strings.Contains(s.m.View(), "{++one++}") || strings.Contains(s.m.View(), "{++five++}") {
			t.Errorf("what has been taken back is offered\n%s", s.m.View())
		}
		for range i {
			s.press("j")
		}
		s.press("enter")
		if got := s.q.undone[0]; got.Batch != want.Batch || !slices.Equal(got.IDs, want.IDs) {
			t.Errorf("after %d steps undone %+v, want %+v", i, got, want)
		}
	}
	s := newSitting(t, cards()...)
	s.press("h")
	s.at("a1")
	if !strings.Contains(s.m.View(), "nothing to undo") {
		t.Errorf("view\n%s", s.m.View())
	}
	s.q.log = decidedAtOnce()
	s.press("hj") // typed ahead: both are for the history
	s.press("x", "y")
	if len(s.q.undone) > 0 || len(s.q.decided) != 1 || s.q.decided[0].IDs[0] != "a1" {
		t.Errorf("undone %+v, decided %+v", s.q.undone, s.q.decided)
	}
}

// A message that is longer than a line is shown to its end, which says what to do, and as far as the screen has room.
func TestLongMessage(t *testing.T) {
	s := newSitting(t, reviewqueue.Suggestion{ID: "a", Path: "N/a.md"})
	s.q.err = errors.New("relayfs mount (pid 1234567) at /home/somebody/Documents/Notes for agents has ended; start it again")
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("n")})
	if view := s.m.View(); !strings.Contains(view, "again") || strings.Count(view, "\n") >= 24 {
		t.Errorf("shown is\n%s", view)
	}
	s.q.err = errors.New(strings.Repeat("a long reason ", 1000))
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("n")})
	if view := s.m.View(); strings.Count(view, "\n") >= 24 {
		t.Errorf("shown is\n%s", view)
	}
}
