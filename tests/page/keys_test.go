package page

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// keysVault has three notes, the last of which has a group of two changes.
func keysVault(t *testing.T, s *harness.Sandbox) *harness.Mount {
	t.Helper()
	return s.Mount(t, s.Vault(t, "Vault", map[string]string{
		"A.md": "---\nk: v\n---\nOne {--a--}{++b++} line.\n\nTwo {--c--}{++d++} lines, and more words than fit in between, {--e--}{++f++}.\n",
		"B.md": "Three {++g++} lines.\n",
		"C.md": "Four {--h--}{++i++} or {--j--}{++k++} lines.\n",
	}))
}

// Each key does what the list of keys says, in its place and nowhere else.
func TestReviewPageKeys(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := keysVault(t, s)
	b := openPage(t, reviewPage(t, s))
	note := func(name, want string) {
		t.Helper()
		harness.FileBecomes(t, m.VaultPath(name), want)
	}
	at := func(line, card string) {
		t.Helper()
		if p := b.do(t, line); !strings.Contains(p.Card, card) {
			t.Errorf("%s: the focus is in %q, want %q", line, p.Card, card)
		}
	}
	b.do(t, "wait 6 pending suggestions")
	at("press j", "Two")
	at("press k", "One")
	at("press ArrowDown", "Two")
	at("press ArrowUp", "One")
	b.do(t, "press ]")
	at("wait Three", "Three")
	b.do(t, "press [")
	at("wait more words", "One")

	b.do(t, "press a")
	b.do(t, "type so it is")
	b.do(t, "press Enter")
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "press x")
	b.do(t, "wait 1 suggestion rejected")
	b.do(t, "press r")
	b.do(t, "press Escape") // no reason, no decision
	b.do(t, "press e")
	b.do(t, "type ff")
	b.do(t, "press Control+Enter")
	b.do(t, "wait accepted as you wrote it")
	note("A.md", "---\nk: v\n---\nOne b line.\n\nTwo c lines, and more words than fit in between, ff.\n")
	b.do(t, "press u")
	b.do(t, "wait taken back: accepted as you wrote it")
	note("A.md", "---\nk: v\n---\nOne b line.\n\nTwo c lines, and more words than fit in between, {--e--}{++f++}.\n")
	if out := s.Run(t, "suggestions", "log"); !strings.Contains(out.Stdout, "because so it is\n") {
		t.Errorf("log without the reason:\n%s", out.Stdout)
	}
	b.do(t, "press t")
	b.do(t, "wait k: v")
	b.do(t, "press t")
	b.do(t, "press ?")
	b.do(t, "wait undo the last decision")
	b.do(t, "press n") // is for nothing while the keys are shown
	b.do(t, "press Escape")
	b.do(t, "press h")
	b.do(t, "wait History: what was decided") // the note says why, too
	b.do(t, "wait because so it is")

	b.do(t, "press q")
	b.do(t, "press ArrowDown")
	b.do(t, "press ArrowDown")
	b.do(t, "press Enter")
	at("wait Four", "Four")
	b.do(t, "press s")
	b.do(t, "press y")
	note("C.md", "Four i or {--j--}{++k++} lines.\n")
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion accepted in Vault/C.md")
	b.do(t, "press R")
	b.do(t, "wait 2 suggestions rejected")
	note("C.md", "Four h or j lines.\n")
	b.do(t, "beside Four > Undo all 2")
	b.do(t, "wait taken back: 2 suggestions rejected in Vault/C.md")
	note("C.md", "Four {--h--}{++i++} or {--j--}{++k++} lines.\n")
	b.do(t, "press A")
	b.do(t, "press A")
	note("C.md", "Four i or k lines.\n")
	p := b.do(t, "wait All that was shown here is decided.")
	if p.Open != "Vault/C.md" || p.Count != "2 pending suggestions" {
		t.Errorf("%q is open, %s", p.Open, p.Count)
	}
	b.do(t, "click Next: A")
	b.do(t, "wait more words")
	b.do(t, "press /")
	b.do(t, "type three")
	b.do(t, "wait Nothing that the filter shows is pending; 2 others wait.")
	b.do(t, "press Escape")

	// An agent's change of front matter is made at once, and the note says so.
	harness.WriteFile(t, m.Path("A.md"), strings.Replace(harness.ReadFile(t, m.Path("A.md")), "k: v", "k: w", 1))
	b.do(t, "wait changed properties at once")
	b.do(t, "beside changed properties > Take back")
	b.do(t, "wait taken back: properties changed")
	note("A.md", "---\nk: v\n---\nOne b line.\n\nTwo c lines, and more words than fit in between, {--e--}{++f++}.\n")
}

// Who has gone to the list of notes stays there, whatever comes meanwhile: what is opened, or shown otherwise, or
// taken back.
func TestReviewPageLeavesTheFocusWhereOneHasGone(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	keysVault(t, s)
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 6 pending suggestions")
	for _, slow := range []struct{ key, answer, drawn string }{
		{"y", "/decide", "1 suggestion accepted"},
		{"u", "/undo", "taken back: 1 suggestion accepted"},
		{"t", "/document", "k: v"},
		{"]", "/document", "Three"},
		{"h", "/journal", "History: what was decided"},
	} {
		b.do(t, "hold "+slow.answer)
		b.do(t, "press "+slow.key)
		b.do(t, "press q")
		b.do(t, "press ArrowDown")
		b.do(t, "release")
		if p := b.do(t, "wait "+slow.drawn); p.Listed == "" {
			t.Errorf("%s: the focus has left the list of notes for %s, %q", slow.key, p.Focused, p.Card)
		}
		b.do(t, "press k") // back to the note
	}
}

// While agents write, in the open note and in others, what the reader looks at stays, in both tabs, with the focus,
// and what is decided meanwhile is what was shown. Afterwards both tabs show what the command line does.
func TestReviewPageWhileAgentsWriteAllTheTime(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{"Note.md": longNote(60)}
	for i := range 20 {
		files[fmt.Sprintf("Other %02d.md", i)] = "some words\n"
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 60 pending suggestions")
	b.do(t, "tab 2")
	b.do(t, "focus Line 50")
	b.do(t, "tab 1")
	before := b.do(t, "focus Line 30")
	stop, ended := make(chan bool), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			case <-time.After(10 * time.Millisecond):
			}
			name := m.Path(fmt.Sprintf("Other %02d.md", i%20))
			err := os.WriteFile(name, fmt.Appendf(nil, "some words, %d\n", i), 0o600)
			if text, readErr := os.ReadFile(m.Path("Note.md")); err == nil && readErr == nil && i%3 == 0 {
				err = harness.WriteAll(m.Path("Note.md"), fmt.Appendf(nil, "Written %d.\n\n%s", i, text))
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	b.do(t, "wait Other 19")
	for range 5 {
		p := b.do(t, "press k")
		p = b.do(t, "press j")
		if p.Card != before.Card || math.Abs(p.CardAt.Top-before.CardAt.Top) > 1 {
			t.Errorf("%q is at %v; before the writes %q was at %v", p.Card, p.CardAt, before.Card, before.CardAt)
		}
	}
	b.do(t, "press y")
	b.do(t, "wait ✓ accepted")
	p := b.do(t, "tab 2")
	if !strings.Contains(p.Card, "Line 50") || p.CardAt.Top < p.NoteAt.Top || p.CardAt.Bottom > p.NoteAt.Bottom {
		t.Errorf("in the other tab the focus is in %q at %v", p.Card, p.CardAt)
	}
	b.do(t, "press n")
	b.do(t, "wait ✗ rejected")
	for _, x := range s.Suggestions(t) {
		if strings.HasPrefix(x.New, "Written") {
			s.Run(t, "suggestions", "accept", x.ID)
			break
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	raw := harness.ReadFile(t, m.VaultPath("Note.md"))
	if !strings.Contains(raw, "Line 30 is two.") || !strings.Contains(raw, "Line 50 is one.") || strings.Count(raw, "{--one--}{++two++}") != 58 {
		t.Errorf("decided is another than was shown: %q", raw)
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		want := plural(len(s.Suggestions(t)), "pending suggestion")
		for _, tab := range []string{"tab 1", "tab 2"} {
			if p := b.do(t, tab); p.Count != want {
				return fmt.Errorf("%s shows %q, want %q", tab, p.Count, want)
			}
		}
		return nil
	})
}
