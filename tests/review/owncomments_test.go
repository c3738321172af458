package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// An agent changes its own comment and takes it back as it does its additions; another
// agent's, and one that a person has accepted or reworded, it does not.
func TestWhoMayChangeAComment(t *testing.T) {
	t.Parallel()
	const before = "One two.\n"
	with := func(comment string) string { return strings.Replace(before, "two", "two{>>"+comment+"<<}", 1) }
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"own.md": before, "others.md": before, "accepted.md": before, "reworded.md": before})
	m := s.Mount(t, vault, "--author", "ann")
	for _, name := range []string{"own.md", "others.md", "accepted.md", "reworded.md"} {
		harness.ReadFile(t, m.Path(name))
		harness.WriteFile(t, m.Path(name), with("first"))
	}
	stored := func(name, want string) {
		t.Helper()
		harness.CheckText(t, name, harness.ReadFile(t, m.VaultPath(name)), want)
	}
	pending := func(name string, want int) {
		t.Helper()
		list := slices.DeleteFunc(s.Suggestions(t, m.Vault), func(sg harness.Suggestion) bool { return sg.Path != "Vault/"+name })
		if len(list) != want {
			t.Errorf("%s: listed are %v, want %d", name, list, want)
		}
	}
	harness.WriteFile(t, m.Path("own.md"), with("second"))
	stored("own.md", with("second"))
	pending("own.md", 1)
	harness.WriteFile(t, m.Path("own.md"), before)
	stored("own.md", before)
	pending("own.md", 0)

	bob := s.MCP(t, "--author", "bob", m.Vault)
	bob.MustCall(t, "read", "file_path", "Vault/others.md")
	for _, text := range []string{"", "{>>second<<}"} {
		refused := bob.Call(t, "edit", "file_path", "Vault/others.md", "old_string", "{>>first<<}", "new_string", text)
		if !refused.IsError || !strings.Contains(refused.Text, "another author's pending suggestion") {
			t.Errorf("another agent puts %q in the place of a comment that waits: %+v", text, refused)
		}
	}
	bob.MustCall(t, "edit", "file_path", "Vault/others.md", "old_string", "One", "new_string", "Ten")
	stored("others.md", "{--One--}{++Ten++} two{>>first<<}.\n")
	pending("others.md", 2)
	s.Decide(t, "reject", "--path", "Vault/others.md", m.Vault)
	stored("others.md", before)
	pending("others.md", 0)

	s.Decide(t, "accept", "--path", "Vault/accepted.md", m.Vault)
	pending("accepted.md", 0)
	harness.WriteFile(t, m.Path("accepted.md"), before)
	stored("accepted.md", "One two{--{>--}{-->first<<}--}.\n")
	pending("accepted.md", 1)

	harness.WriteFile(t, m.VaultPath("reworded.md"), with("first of mine"))
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got := harness.ReadFile(t, m.Path("reworded.md")); got != with("first of mine") {
			return fmt.Errorf("the mount says %q, want %q", got, with("first of mine"))
		}
		return nil
	})
	pending("reworded.md", 0)
	ann := s.MCP(t, "--author", "ann", m.Vault)
	ann.MustCall(t, "read", "file_path", "Vault/reworded.md")
	ann.MustCall(t, "edit", "file_path", "Vault/reworded.md", "old_string", "{>>first of mine<<}", "new_string", "")
	stored("reworded.md", "One two{--{>--}{-->first of mine<<}--}.\n")
	s.Decide(t, "reject", "--path", "Vault/reworded.md", m.Vault)
	stored("reworded.md", with("first of mine"))
}

// A comment that was moved is that person's in its new place, too, once both sides of
// the move are accepted, and halves of the move do not stand in the way of other edits.
func TestAMovedCommentStaysItsAuthors(t *testing.T) {
	t.Parallel()
	const signed = "{>>{\"author\":\"Ann\"}@@two\nlines<<}"
	const before = "First" + signed + " one.\n\nSecond.\n\nThird.\n"
	const moved = "Second.\n\nFirst" + signed + " one.\n\nThird.\n"
	s := harness.NewSandbox(t)
	m := agentMount(t, s, map[string]string{"note.md": before})
	harness.ReadFile(t, m.Path("note.md"))
	harness.WriteFile(t, m.Path("note.md"), moved)
	s.Decide(t, "accept", "--kind", "deletion", "--yes", m.Vault)
	harness.WriteFile(t, m.Path("note.md"), strings.Replace(moved, "Third", "Last", 1))
	harness.CheckText(t, "the mount's note", harness.ReadFile(t, m.Path("note.md")), strings.Replace(moved, "Third", "Last", 1))
	s.Decide(t, "accept", "--all", "--yes", m.Vault)
	harness.CheckText(t, "accepted", harness.ReadFile(t, m.VaultPath("note.md")), strings.Replace(moved, "Third", "Last", 1))
	if list := s.Suggestions(t, m.Vault); len(list) > 0 {
		t.Errorf("still listed: %v", list)
	}
}
