package bridge_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestAmend(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{"We {--sell--}{++vend++} tea.\n", "offer", "We offer tea.\n"},
		{"We {~~sell~>vend~~} tea{++ too++}.\n", "give", "We give tea{++ too++}.\n"},
		{"We {~~sell~>vend~~} tea.\n", "revend", "We revend tea.\n"},
		{"We {~~sell~>vend~~} tea.\n", "vended", "We vended tea.\n"},
		{"{++Long ++}ago\n", "", "ago\n"},
		{"a {--b --}c\n", "B ", "a B c\n"},
		{"é {++x++}{>>why<<} z\n", "🙂", "é 🙂 z\n"},
		{"aa {=={--bb--}==} cc dd\n", "zz", "aa zz cc dd\n"},
		{"aa {==x {--bb--}{++cc++} y==} dd\n", "zz", "aa {==x zz y==} dd\n"},
	} {
		f := bridgetest.New(t, map[string]string{plan: c.raw})
		list := pendingOf(t, f.Workspace)
		out, err := f.Amend(t.Context(), list[0].ID, c.text, person)
		if err != nil || len(out.Failed) > 0 || out.Notes != 1 {
			t.Errorf("%q: %+v, %v", c.raw, out, err)
			continue
		}
		if got := f.SourceText(plan); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.raw, c.text, got, c.want)
		}
		journal, err := f.Journal(1)
		if err != nil || journal[0].Decision.Verdict != model.Changed || journal[0].Decision.Items[0].ID != list[0].ID {
			t.Errorf("journal %+v, %v", journal, err)
		} else if got := journal[0].Decision.Items[0]; got.ResultText() != c.text || got.New != list[0].New {
			t.Errorf("%q with %q: the journal has %q for %q", c.raw, c.text, got.ResultText(), got.New)
		}
		undo(t, f.Workspace, "")
		if got := f.SourceText(plan); got != c.raw {
			t.Errorf("after undo %q, want %q", got, c.raw)
		}
	}
}

// The user's text gets the line breaks of the proposed text or, if it has none, of the note: a browser returns only LF.
func TestAmendKeepsLineBreaks(t *testing.T) {
	for _, c := range []struct{ raw, text, want string }{
		{"a\r\nb{++\r\nc++}\r\nd\r\n", "\nc1\nc2", "a\r\nb\r\nc1\r\nc2\r\nd\r\n"},
		{"a\r\nb{++\r\nc++}\r\nd\r\n", "\nc", "a\r\nb\r\nc\r\nd\r\n"},
		{"a {--b--}{++c++} d\r\n", "c\ne", "a c\r\ne d\r\n"},
		{"a {--b--}{++c++} d\n", "c\r\ne", "a c\ne d\n"},
	} {
		f := bridgetest.New(t, map[string]string{plan: c.raw})
		out, err := f.Amend(t.Context(), pendingOf(t, f.Workspace)[0].ID, c.text, person)
		if err != nil || len(out.Failed) > 0 {
			t.Errorf("%q: %+v, %v", c.raw, out, err)
		}
		if got := f.SourceText(plan); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.raw, c.text, got, c.want)
		}
		undo(t, f.Workspace, "")
		if got := f.SourceText(plan); got != c.raw {
			t.Errorf("after undo %q, want %q", got, c.raw)
		}
	}
}

// The note shows the user's text in place of the proposed one, whatever is around the suggestion. Undo brings the note back.
func TestAmendAnywhere(t *testing.T) {
	parts := []string{"a ", "é", "🙂 ", "\n", "\r\n", "{==", "==}", "{++b++}", "{--c --}", "{++d", "++}", "{--e", "--}", "{~~f~>g~~}", "{~~h~>~~}", "{>>i<<}", "- ", "> ", "`", "~>"}
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(randomtest.Pick(r, parts...))
		}
		raw := b.String()
		f := bridgetest.New(t, map[string]string{plan: raw})
		list := pendingOf(t, f.Workspace)
		if len(list) == 0 {
			return
		}
		s := randomtest.Pick(r, list...)
		accepting := diffwrap.Known{}.Accept(raw, s.Suggestion)
		view := diffwrap.Known{}.MarksOf(raw).AfterEdits(raw, accepting).Accepted(diffwrap.Apply(raw, accepting))
		text := randomtest.Pick(r, "ZZ", "", "Z\nZ", s.New)
		out, err := f.Amend(t.Context(), s.ID, text, person)
		if err != nil || len(out.Missing) > 0 {
			t.Fatalf("%q: %+v, %v", raw, out, err)
		}
		if len(out.Failed) > 0 {
			return
		}
		v, err := f.Open(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		wanted, like := false, s.New
		if !strings.Contains(like, "\n") {
			like = view
		}
		text = diffwrap.KeepBreaks(text, like)
		for i := range len(view) - len(s.New) + 1 {
			wanted = wanted || strings.HasPrefix(view[i:], s.New) && view[:i]+text+view[i+len(s.New):] == v.Text()
		}
		if !wanted {
			t.Errorf("%q: %q becomes %q: the note reads %q, it read %q", raw, s.New, text, v.Text(), view)
		}
		undo(t, f.Workspace, "")
		if got := f.SourceText(plan); got != raw {
			t.Errorf("%q: after the undo of %q for %q it is %q", raw, text, s.New, got)
		}
	})
}

func TestAmendRefusesMarkup(t *testing.T) {
	const raw = "We {--sell--}{++vend++} tea{++ too++}.\n"
	for _, text := range []string{"{++more++}", "{--less--}", "{++open"} {
		f := bridgetest.New(t, map[string]string{plan: raw})
		out, err := f.Amend(t.Context(), pendingOf(t, f.Workspace)[0].ID, text, person)
		if err != nil || !errors.Is(out.Failed[plan], model.ErrRefused) || out.Notes != 0 {
			t.Errorf("%q: %+v, %v", text, out, err)
		}
		if got := f.SourceText(plan); got != raw {
			t.Errorf("%q: note changed to %q", text, got)
		}
	}
}

func TestAmendMissing(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "plain\n"})
	out, err := f.Amend(t.Context(), "0123456789", "x", person)
	if err != nil || len(out.Missing) != 1 || out.Notes != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
