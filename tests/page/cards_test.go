package page

import (
	"os"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A card says which change it is about, also when that is decided, and why it was rejected; so does the list of
// renames and deletions.
func TestCardsSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{
		"Note.md": "Take {--the--}{++that++} one.\n\nMore {++or less ++}words.\n\nLess {--and less --}words.\n", "Old.md": "old\n", "Stale.md": "stale\n",
	}))
	for _, name := range []string{"Old.md", "Stale.md"} {
		if err := os.Remove(m.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, reviewPage(t, s))
	gists := func(line string, want ...string) {
		t.Helper()
		if p := b.do(t, line); !slices.Equal(p.Gists, want) {
			t.Errorf("%s: the cards are about %q, want %q", line, p.Gists, want)
		}
	}
	gists("wait 5 pending suggestions", "Vault/Old.md: delete", "Vault/Stale.md: delete")
	b.do(t, "press y")
	b.do(t, "wait 1 suggestion accepted")
	gists("wait ✓ accepted: ", "Vault/Old.md: delete", "Vault/Stale.md: delete")
	b.do(t, "beside Vault/Old.md > Undo") // its title is there
	b.do(t, "wait taken back")

	b.do(t, "click Note")
	gists("wait Less", "the → that", "added: or less", "deleted: and less")
	b.do(t, "press r")
	b.do(t, "type not that one")
	b.do(t, "press Enter")
	b.do(t, "wait 1 suggestion rejected")
	gists("wait ✗ rejected: ", "the → that · because not that one", "added: or less", "deleted: and less")
}
