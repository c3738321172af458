package page

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A new note says so, also one with properties, which are not offered by themselves. Rejected as a whole, after a
// question, nothing is left of it on the page but how to take that back.
func TestReviewPageOfANewNote(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Old.md": "---\na: 1\n---\n{++by the way++}\n", "Z.md": "a {--b--}{++c++} d\n"}))
	harness.WriteFile(t, m.Path("New.md"), "---\nstatus: draft\n---\nAn idea.\n")
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 3 pending suggestions")
	p := b.do(t, "wait new note")
	if p.Open != "Vault/New.md" || slices.Contains(p.Buttons, "Take back") {
		t.Errorf("%q is open; buttons %q", p.Open, p.Buttons)
	}
	if p = b.do(t, "press n"); !strings.HasPrefix(p.Question, "Reject the new note Vault/New.md?") {
		t.Errorf("asked %q", p.Question)
	}
	b.do(t, "press Enter")
	b.do(t, "wait This note was removed from the vault.")
	p = b.do(t, "wait ✗ rejected")
	if slices.Contains(p.Buttons, "Comment") || slices.Contains(p.Buttons, "Source") || len(p.Suggestions) > 0 {
		t.Errorf("of the removed note the page has %q, buttons %q", p.Suggestions, p.Buttons)
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		if _, err := os.Stat(m.VaultPath("New.md")); !os.IsNotExist(err) {
			return fmt.Errorf("the rejected note is there: %v", err)
		}
		return nil
	})
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion rejected")
	if p = b.do(t, "wait An idea."); p.Open != "Vault/New.md" || !slices.Contains(p.Buttons, "Source") {
		t.Errorf("taken back: %q is open; buttons %q", p.Open, p.Buttons)
	}
	b.do(t, "click Old")
	if p = b.do(t, "wait by the way"); p.Open != "Vault/Old.md" || p.Badge != "" {
		t.Errorf("%q is open, with the badge %q", p.Open, p.Badge)
	}
}
