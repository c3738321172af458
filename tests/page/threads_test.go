package page

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A person asks for another version, sees the answer in place, comments on a passage, replies, resolves, and takes
// each back, with keys and with buttons; and what cannot be written stays typed.
func TestConversationOnThePage(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "One two three.\n\nFour five, four six.\n"})
	note := filepath.Join(vault, "note.md")
	edit := func(old, new string) {
		t.Helper()
		if out := s.Run(t, "edit", "--source", vault, "Vault/note.md", "--old", old, "--new", new); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	edit("two", "a great many")
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 1 pending suggestion")

	b.do(t, "press c")
	b.do(t, "wait Ask for another version.")
	b.do(t, "type shorter")
	b.do(t, "press Enter")
	p := b.do(t, "wait comment in Vault/note.md")
	harness.CheckText(t, "asked", harness.ReadFile(t, note), "One {--two--}{++a great many++}{>>shorter<<} three.\n\nFour five, four six.\n")
	if !slices.Equal(p.Comments, []string{"shorter"}) || p.Count != "1 pending suggestion" {
		t.Errorf("comments %q, %s", p.Comments, p.Count)
	}
	edit("a great many", "many")
	b.do(t, "wait It has changed since")
	harness.CheckText(t, "answered", harness.ReadFile(t, note), "One {--two--}{++many++}{>>shorter<<} three.\n\nFour five, four six.\n")

	b.do(t, "beside One > Reason")
	b.do(t, "type a number")
	b.do(t, "press Enter")
	b.do(t, "wait 0 pending suggestions")
	harness.FileBecomes(t, note, "One two three.\n\nFour five, four six.\n")
	edit("two", "seven")
	b.do(t, "wait after you rejected twomany: a number")

	b.do(t, "select our")
	b.do(t, "click Comment")
	b.do(t, "wait Comment on “our”")
	b.do(t, "type is it?")
	b.do(t, "press Enter")
	if p = b.do(t, "wait occurs several times"); p.Typed != "is it?" {
		t.Errorf("typed %q is left of what was refused", p.Typed)
	}
	b.do(t, "press Escape")
	b.do(t, "select five")
	b.do(t, "press c")
	b.do(t, "type is it?")
	b.do(t, "press Enter")
	b.do(t, "wait comment in Vault/note.md")
	b.do(t, "beside Four > Reply")
	b.do(t, "type it <b>is</b>")
	b.do(t, "press Enter")
	const talk = "Four five{>>is it?<<}{>>it <b>is</b><<}, four six.\n"
	p = b.do(t, "wait comment in Vault/note.md")
	b.do(t, "wait it <b>is</b>")
	if raw := harness.ReadFile(t, note); !strings.HasSuffix(raw, talk) {
		t.Errorf("replied: %q", raw)
	}
	if p.Active != 0 {
		t.Errorf("%d active elements came in with a comment", p.Active)
	}
	b.do(t, "beside Four > Resolve")
	b.do(t, "wait thread resolved in Vault/note.md")
	if raw := harness.ReadFile(t, note); strings.Contains(raw, "{>>") {
		t.Errorf("resolved: %q", raw)
	}
	b.do(t, "press u")
	b.do(t, "wait taken back: thread resolved")
	if raw := harness.ReadFile(t, note); !strings.HasSuffix(raw, talk) {
		t.Errorf("taken back: %q", raw)
	}
}

// Pressing Enter twice writes one comment.
func TestCommentIsSentOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": "One {--red--}{++blue++} cat.\n"}))
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "press c")
	b.do(t, "type Why?")
	b.do(t, "hold /comment")
	b.do(t, "press Enter")
	b.do(t, "press Enter")
	b.do(t, "release")
	b.do(t, "wait comment in Vault/A.md")
	b.do(t, "beside One > Ask") // this comment is sent after all copies of the first
	b.do(t, "type And then?")
	b.do(t, "press Enter")
	b.do(t, "wait And then?")
	harness.FileBecomes(t, m.VaultPath("A.md"), "One {--red--}{++blue++}{>>Why?<<}{>>And then?<<} cat.\n")
}
