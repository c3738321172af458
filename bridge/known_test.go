package bridge_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// What an agent changes in code waits as marks there, in the running process and in the next one, also where a user has typed, and
// whatever reads as a mark and was not written by relayfs stays text through all of it.
func TestMarksInCode(t *testing.T) {
	const (
		text    = "# Code\n\n```c\nfor (;;) {++n; m++}\nreturn 1;\n```\n\n$A^{--}$ and $B^{--}$.\n"
		written = "# Code\n\n```c\nfor (;;) {++n; m++}\nreturn 2;\nint {++i; j++};\n```\n\n$A^{--}$ and $B^{--}$, {{-- too --}}.\n"
	)
	for _, verdict := range []model.Verdict{model.Accepted, model.Rejected} {
		src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
		src.Person(t).Save("Plan.md", text)
		first := process(t, src, store)
		if got := open(t, first, plan).Text(); got != text {
			t.Fatalf("the note is shown as %q", got)
		}
		write(t, first, plan, bridge.Write{Text: written, By: ann})
		check := func(when string, ws *bridge.Workspace, want string) {
			t.Helper()
			if got := open(t, ws, plan).Text(); got != want {
				t.Fatalf("%s: shown as %q, want %q", when, got, want)
			}
			for _, s := range pendingOf(t, ws) {
				if s.Author != ann.Name || strings.Contains(s.New+s.Old, "m++") {
					t.Fatalf("%s: a suggestion %+v", when, s)
				}
			}
		}
		check("after the write", first, written)
		pending := len(pendingOf(t, first))
		if pending == 0 {
			t.Fatal("nothing is pending")
		}
		second := process(t, src, store)
		check("after a restart", second, written)
		if n := len(pendingOf(t, second)); n != pending {
			t.Fatalf("%d suggestions after a restart, want %d", n, pending)
		}
		raw := src.Person(t).Content("Plan.md")
		src.Person(t).Save("Plan.md", raw+"\nTyped `{++x++}`.\n")
		third := process(t, src, store)
		check("after a person has typed", third, written+"\nTyped `{++x++}`.\n")
		waits := src.Person(t).Content("Plan.md")
		decidePending(t, third, verdict)
		want := map[model.Verdict]string{model.Accepted: written, model.Rejected: text}[verdict] + "\nTyped `{++x++}`.\n"
		for when, ws := range map[string]*bridge.Workspace{"the same process": third, "the next process": process(t, src, store)} {
			check(string(verdict)+", "+when, ws, want)
			if got := src.Person(t).Content("Plan.md"); got != want || len(pendingOf(t, ws)) > 0 {
				t.Fatalf("%s, %s: %q is stored, want %q", verdict, when, got, want)
			}
		}
		undo(t, third, "")
		if got := src.Person(t).Content("Plan.md"); got != waits {
			t.Fatalf("%s and taken back: %q, want %q", verdict, got, waits)
		}
		check("taken back", third, written+"\nTyped `{++x++}`.\n")
		check("taken back, after a restart", process(t, src, store), written+"\nTyped `{++x++}`.\n")
		decidePending(t, process(t, src, store), verdict)
		if got := src.Person(t).Content("Plan.md"); got != want {
			t.Fatalf("%s again: %q, want %q", verdict, got, want)
		}
	}
}

// A user's text in code that reads as a comment is text, also after a decision that takes the code's fence away.
func TestACommentInCodeStaysText(t *testing.T) {
	const text, written = "```\na {>>b<<} c\n```\nd\n", "a {>>b<<} c\nd\n"
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", text)
	ws := process(t, src, store)
	write(t, ws, plan, bridge.Write{Text: written, By: ann})
	check := func(when string) {
		t.Helper()
		for _, ws := range []*bridge.Workspace{ws, process(t, src, store)} {
			v := open(t, ws, plan)
			if got := v.Known().Comments(v.Canonical()); len(got) > 0 || v.Text() != written {
				t.Fatalf("%s: %q is shown, with the comments %+v", when, v.Text(), got)
			}
		}
	}
	check("pending")
	decidePending(t, ws, model.Accepted)
	check("accepted")
	undo(t, ws, "")
	check("undone")
}

// What an agent writes where nothing is marked, in mode direct, is no mark in code.
func TestDirectWritesNoMarkInCode(t *testing.T) {
	const text = "A.\n\n```c\n{++n; m++}\n```\n"
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "A.\n")
	ws, err := bridge.New(bridge.Options{Options: note.Options{Mode: bridge.Direct}, Roots: []bridge.RootSource{{Name: "Notes", Source: src, Store: store}}})
	if err == nil {
		err = ws.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, ws, plan, bridge.Write{Text: text, By: ann})
	for _, ws := range []*bridge.Workspace{ws, process(t, src, store)} {
		if got := open(t, ws, plan).Text(); got != text || len(pendingOf(t, ws)) > 0 {
			t.Errorf("shown as %q, pending %+v", got, pendingOf(t, ws))
		}
	}
}

// decidePending decides on all suggestions.
func decidePending(t *testing.T, ws *bridge.Workspace, verdict model.Verdict) {
	t.Helper()
	var ids []string
	for _, s := range pendingOf(t, ws) {
		ids = append(ids, s.ID)
	}
	if _, err := ws.Decide(t.Context(), ids, verdict, model.Author{Name: "person"}); err != nil {
		t.Fatal(err)
	}
}

// What a user has proposed by hand still waits when a fence that an agent put around it is accepted.
func TestUsersMarkInAcceptedFence(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	src.Person(t).Save("Plan.md", "a {++b++} c\n")
	first := process(t, src, store)
	write(t, first, plan, bridge.Write{Text: "```\na b c\n```\n", By: ann})
	var ids []string
	for _, s := range pendingOf(t, first) {
		if s.Author == ann.Name {
			ids = append(ids, s.ID)
		}
	}
	if out, err := first.Decide(t.Context(), ids, model.Accepted, person); err != nil || len(out.Failed) > 0 {
		t.Fatal(out, err)
	}
	for _, ws := range []*bridge.Workspace{first, process(t, src, store)} {
		if list := pendingOf(t, ws); len(list) != 1 || list[0].New != "b" || list[0].Author != "" {
			t.Errorf("%q has %+v", open(t, ws, plan).Raw(), list)
		}
	}
}
