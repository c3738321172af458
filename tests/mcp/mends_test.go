package mcp

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Of headings that read alike, each can be named, as the refusal has it.
func TestMCPEqualHeadings(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "# A\n\n## Plan\n\none\n\n# B\n\n## Plan\n\none\n"})
	c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes", vault)
	got := c.Call(t, "read", "file_path", "Vault/Plan.md", "section", "## Plan")
	if want := `several sections "## Plan": ## Plan (line 3), ## Plan (line 9). Name one of them as written here`; !got.IsError || !strings.Contains(got.Text, want) {
		t.Fatalf("got %s, want %q", got.Text, want)
	}
	if got := c.MustCall(t, "read", "file_path", "Vault/Plan.md", "section", "## Plan (line 9)"); !strings.HasPrefix(got, "     9\t## Plan") {
		t.Errorf("got %q, want lines from 9", got)
	}
	c.MustCall(t, "edit", "file_path", "Vault/Plan.md", "section", "## Plan (line 9)", "old_string", "one", "new_string", "two")
	c.MustCall(t, "append", "path", "Vault/Plan.md", "section", "Plan (line 3)", "content", "first")
	harness.CheckText(t, "the note", harness.ReadFile(t, filepath.Join(vault, "Plan.md")), "# A\n\n## Plan\n\none\n\nfirst\n\n# B\n\n## Plan\n\ntwo\n")
}

// A copied task keeps what is in its box, and toggle does not drop copy_to.
func TestMCPCopiedTasksKeepTheirBoxes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "- [-] given up\n- [x] done\n- [ ] open\n- [/] half\n"})
	c := s.MCP(t, "--mode", "direct", "--approve", "auto", vault)
	c.MustCall(t, "tasks", "status", "all", "copy_to", "Vault/All.md")
	harness.CheckText(t, "the copy", harness.ReadFile(t, filepath.Join(vault, "All.md")), "- [-] given up ([[Plan]])\n- [x] done ([[Plan]])\n- [ ] open ([[Plan]])\n- [/] half ([[Plan]])\n")
	if got := c.Call(t, "tasks", "toggle", []string{"Vault/Plan.md:3"}, "copy_to", "Vault/All.md"); !got.IsError || !strings.Contains(got.Text, "not both") {
		t.Errorf("got %s, want a refusal of both", got.Text)
	}
}

// set_properties answers in the order of the call.
func TestMCPSetPropertiesInOrder(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	c := s.MCP(t, "--toolsets", "notes", s.Vault(t, "Vault", map[string]string{"a.md": "a\n", "b.md": "b\n"}))
	got := c.MustCall(t, "set_properties", "notes", []any{map[string]any{"path": "Vault/a.md"}, map[string]any{"path": "Vault/none.md"}, map[string]any{"path": "Vault/b.md"}}, "set", map[string]any{"k": 1})
	if want := regexp.MustCompile(`"Vault/a.md","status":"updated"}.*"Vault/none.md","status":"failed".*"Vault/b.md","status":"updated"`); !want.MatchString(got) {
		t.Errorf("got %s, want a, none and b in this order", got)
	}
}
