package page

import (
	"fmt"
	"os"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Before many suggestions are decided, or taken back, the page says whose they are and what is among them, in the
// numbers that its buttons have.
func TestBulkDecisionsSayWhatIsInThem(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{"Old.md": "old\n", "Plan.md": "plan\n"}
	for i := range 11 {
		files[fmt.Sprintf("Note %02d.md", i)] = "some words\n"
	}
	m := s.Mount(t, s.Vault(t, "Vault", files), "--author", "anna")
	for i := range 11 {
		harness.WriteFile(t, m.Path(fmt.Sprintf("Note %02d.md", i)), "more words\n")
	}
	for _, err := range []error{os.Remove(m.Path("Old.md")), os.Rename(m.Path("Plan.md"), m.Path("Goal.md"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, reviewPage(t, s))
	asks := func(line, want string) {
		t.Helper()
		if p := b.do(t, line); p.Question != want {
			t.Errorf("%s: asked %q, want %q", line, p.Question, want)
		}
	}
	b.do(t, "wait 13 pending suggestions")
	asks("click Accept all 2", "Accept 2 suggestions of anna in 2 notes: 1 rename, 1 deletion (the note goes to .trash)?")
	b.do(t, "press Escape")
	b.do(t, "choose anna (13)")
	asks("click Reject 13 in 13 notes", "Reject 13 suggestions of anna in 13 notes: 11 changes of text, 1 rename, 1 deletion?")
	b.do(t, "press Escape")
	b.do(t, "press /")
	b.do(t, "type note")
	b.do(t, "wait 11 of 13 pending")
	asks("click Accept 11 in 11 notes", "Accept 11 suggestions of anna in 11 notes?")
	b.do(t, "press Enter")
	b.do(t, "wait Nothing that the filter shows is pending; 2 others wait.")
	asks("click Undo", "Take back: 11 suggestions accepted in 11 notes?")
	b.do(t, "press Enter")
	b.do(t, "wait taken back: 11 suggestions")
	b.do(t, "wait 11 of 13 pending")
	harness.FileBecomes(t, m.VaultPath("Note 03.md"), "{--some--}{++more++} words\n")
}
