package page

import (
	"slices"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What a person types into the filter decides nothing, on no screen: not while notes open under it, and not when the
// field loses the focus by itself.
func TestTypedTextDecidesNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	notes := map[string]string{
		"Apples.md":        "a {--b--}{++c++} d\n",
		"Tiny yy nn.md":    "e {--f--}{++g++} h\n",
		"Yearly any xx.md": "i {--j--}{++k++} l\n",
	}
	m := s.Mount(t, s.Vault(t, "Vault", notes))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 3 pending suggestions")
	unchanged := func(when string) {
		t.Helper()
		for name, text := range notes {
			harness.CheckText(t, name+" "+when, harness.ReadFile(t, m.VaultPath(name)), text)
		}
	}
	for _, size := range []string{"400 800", "600 800", "1280 800"} {
		b.do(t, "look "+size+" light")
		b.do(t, "press /")
		for _, words := range []string{"tiny yy nn", "yearly any xx", "apples"} {
			b.do(t, "type ")
			if p := b.do(t, "keys "+words); p.Focused != "INPUT" || p.Typed != words {
				t.Errorf("at %s: typed %q, the field (%s) has %q", size, words, p.Focused, p.Typed)
			}
		}
		unchanged("after the filter at " + size)
		if p := b.do(t, "press Enter"); p.Card != "a c d" && p.Card != "a bc d" {
			t.Errorf("at %s: after Enter the focus is in %q", size, p.Card)
		}
		b.do(t, "press /")
		b.do(t, "keys a")
		b.do(t, "lose")
		b.do(t, "keys yyy AnR")
		b.do(t, "wait The field in which you typed has gone")
		unchanged("after the field was lost at " + size)
		b.do(t, "press Escape")
		b.do(t, "press /")
		b.do(t, "type ")
		b.do(t, "press Enter")
	}
	b.do(t, "press y")
	b.do(t, "wait 2 pending suggestions")
}

// What comes of one decision while a person types the reason of the next leaves the field as it is.
func TestTypedReasonKeepsTheFocus(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const text = "a {--b--}{++c++} d, some words that stand between the two, e {--f--}{++g++} h\n"
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": text}))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 2 pending suggestions")
	b.do(t, "press y")
	b.do(t, "press r")
	if p := b.do(t, "keys yes, any way"); p.Typed != "yes, any way" {
		t.Errorf("the field (%s) has %q", p.Focused, p.Typed)
	}
	b.do(t, "wait ✓ accepted")
	harness.FileBecomes(t, m.VaultPath("A.md"), "a c d, some words that stand between the two, e {--f--}{++g++} h\n")
}

// What a person has typed in an open form is not lost when they do something else meanwhile.
func TestTypedFormIsNotLost(t *testing.T) {
	t.Parallel()
	for what, do := range map[string][]string{
		"another note":        {"click Dogs"},
		"the history":         {"click History"},
		"another form":        {"beside birds > Edit"},
		"all of the note":     {"click Accept 2 in this note"},
		"undo in other notes": {"click Undo"},
		"Esc":                 {"press Escape"},
		"to leave, and Esc":   {"leave", "press Escape", "leave"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			s.Mount(t, s.Vault(t, "Vault", map[string]string{
				"Cats.md": "One {--red--}{++blue++} cat.\n\nThree {++fat ++}birds.\n", "Dogs.md": "Two {++more ++}hens.\n\nThree {++old ++}dogs.\n",
			}))
			b := openPage(t, reviewPage(t, s))
			b.do(t, "wait 4 pending suggestions")
			b.do(t, "click Dogs")
			b.do(t, "beside hens > Accept")
			b.do(t, "wait 1 suggestion accepted")
			b.do(t, "click Cats")
			b.do(t, "beside cat > Edit")
			b.do(t, "type typed")
			for _, line := range do {
				b.do(t, line)
			}
			b.do(t, "wait What you typed is here, to copy")
		})
	}
}

// A decision on another suggestion of the note changes neither an open form nor its text.
func TestDecisionLeavesAnotherForm(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": "One {--red--}{++blue++} cat.\n\nThree {++fat ++}birds.\n"}))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 2 pending suggestions")
	b.do(t, "beside cat > Edit")
	b.do(t, "type typed")
	b.do(t, "beside birds > Accept")
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "beside cat > Accept this text")
	b.do(t, "wait accepted as you wrote it")
	harness.FileBecomes(t, m.VaultPath("A.md"), "One typed cat.\n\nThree fat birds.\n")
}

// What a person has typed in a comment is not lost by Esc, nor by leaving the page.
func TestTypedCommentIsNotLost(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": "One {--red--}{++blue++} cat.\n"}))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "reload") // nothing is typed, so the browser does not ask
	b.do(t, "press c")
	b.do(t, "wait Ask for another version.")
	b.do(t, "type shorter")
	b.do(t, "leave")
	if p := b.do(t, "press Escape"); !slices.Contains(p.Buttons, "Close") {
		t.Errorf("buttons %q", p.Buttons)
	}
	b.do(t, "wait What you typed is here, to copy")
	b.do(t, "leave")
	b.do(t, "click Close")
	b.do(t, "reload")
	b.do(t, "wait 1 pending suggestion")
}
