package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An agent changes its own comment and takes it back as it does its additions; another
// agent's, and one that a person has accepted or reworded, it does not.
func TestWhoMayChangeAComment(t *testing.T) {
	const before = "One two.\n"
	with := func(comment string) string { return strings.Replace(before, "two", "two{>>"+comment+"<<}", 1) }
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"own.md": before, "others.md": before, "accepted.md": before, "reworded.md": before})
	m := s.mount(t, vault, "--author", "ann")
	for _, name := range []string{"own.md", "others.md", "accepted.md", "reworded.md"} {
		readFile(t, m.path(name))
		writeFile(t, m.path(name), with("first"))
	}
	stored := func(name, want string) {
		t.Helper()
		checkText(t, name, readFile(t, m.vaultPath(name)), want)
	}
	pending := func(name string, want int) {
		t.Helper()
		list := slices.DeleteFunc(s.suggestions(t, m.vault), func(sg suggestion) bool { return sg.Path != "Vault/"+name })
		if len(list) != want {
			t.Errorf("%s: listed are %v, want %d", name, list, want)
		}
	}
	writeFile(t, m.path("own.md"), with("second"))
	stored("own.md", with("second"))
	pending("own.md", 1)
	writeFile(t, m.path("own.md"), before)
	stored("own.md", before)
	pending("own.md", 0)

	bob := s.mcp(t, "--author", "bob", m.vault)
	bob.mustCall(t, "read", "file_path", "Vault/others.md")
	bob.mustCall(t, "edit", "file_path", "Vault/others.md", "old_string", "{>>first<<}", "new_string", "")
	stored("others.md", "One two{--{>--}{-->first<<}--}.\n")
	pending("others.md", 1)
	s.decide(t, "reject", "--path", "Vault/others.md", "--author", "bob", m.vault)
	stored("others.md", with("first"))
	pending("others.md", 1)

	s.decide(t, "accept", "--path", "Vault/accepted.md", m.vault)
	pending("accepted.md", 0)
	writeFile(t, m.path("accepted.md"), before)
	stored("accepted.md", "One two{--{>--}{-->first<<}--}.\n")
	pending("accepted.md", 1)

	writeFile(t, m.vaultPath("reworded.md"), with("first of mine"))
	eventually(t, startTimeout, func() error {
		if got := readFile(t, m.path("reworded.md")); got != with("first of mine") {
			return fmt.Errorf("the mount says %q", got)
		}
		return nil
	})
	pending("reworded.md", 0)
	ann := s.mcp(t, "--author", "ann", m.vault)
	ann.mustCall(t, "read", "file_path", "Vault/reworded.md")
	ann.mustCall(t, "edit", "file_path", "Vault/reworded.md", "old_string", "{>>first of mine<<}", "new_string", "")
	stored("reworded.md", "One two{--{>--}{-->first of mine<<}--}.\n")
	s.decide(t, "reject", "--path", "Vault/reworded.md", m.vault)
	stored("reworded.md", with("first of mine"))
}

// A comment that was moved is that person's in its new place, too, once both sides of
// the move are accepted, and halves of the move do not stand in the way of other edits.
func TestAMovedCommentStaysItsAuthors(t *testing.T) {
	const signed = "{>>{\"author\":\"Ann\"}@@two\nlines<<}"
	const before = "First" + signed + " one.\n\nSecond.\n\nThird.\n"
	const moved = "Second.\n\nFirst" + signed + " one.\n\nThird.\n"
	s := newSandbox(t)
	m := agentMount(t, s, map[string]string{"note.md": before})
	readFile(t, m.path("note.md"))
	writeFile(t, m.path("note.md"), moved)
	s.decide(t, "accept", "--kind", "deletion", "--yes", m.vault)
	writeFile(t, m.path("note.md"), strings.Replace(moved, "Third", "Last", 1))
	checkText(t, "the mount's note", readFile(t, m.path("note.md")), strings.Replace(moved, "Third", "Last", 1))
	s.decide(t, "accept", "--all", "--yes", m.vault)
	checkText(t, "accepted", readFile(t, m.vaultPath("note.md")), strings.Replace(moved, "Third", "Last", 1))
	if list := s.suggestions(t, m.vault); len(list) > 0 {
		t.Errorf("still listed: %v", list)
	}
}
