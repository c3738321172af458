package mcp

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The prompt about rejections has what a person rejected of the client's suggestions, with the reason, until the
// decision is undone; and nothing that was accepted.
func TestMCPAddressRejections(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "One line.\n", "Other.md": "Red barn.\n"})
	c := s.MCP(t, vault)
	prompt := func() string {
		return string(c.Request(t, "prompts/get", map[string]any{"name": "address-rejections", "arguments": map[string]string{}}))
	}
	if got := prompt(); !strings.Contains(got, "Nothing was rejected.") {
		t.Errorf("at first: got %s", got)
	}
	c.MustCall(t, "read", "file_paths", []string{"Vault/Plan.md", "Vault/Other.md"})
	c.MustCall(t, "edit", "file_path", "Vault/Plan.md", "old_string", "One", "new_string", "Two")
	if out := s.Run(t, "suggestions", "reject", "--all", "--reason", "keep the first", vault); out.Code != 0 {
		t.Fatalf("reject: %+v", out)
	}
	c.MustCall(t, "edit", "file_path", "Vault/Other.md", "old_string", "Red", "new_string", "Blue")
	if out := s.Run(t, "suggestions", "accept", "--all", vault); out.Code != 0 {
		t.Fatalf("accept: %+v", out)
	}
	if got := prompt(); !strings.Contains(got, "{--One--}{++Two++}") || !strings.Contains(got, "keep the first") || strings.Contains(got, "Blue") {
		t.Errorf("got %s, want the rejection with its reason, and no acceptance", got)
	}
	for range 2 { // the acceptance, then the rejection
		if out := s.Run(t, "suggestions", "undo", vault); out.Code != 0 {
			t.Fatalf("undo: %+v", out)
		}
	}
	if got := prompt(); !strings.Contains(got, "Nothing was rejected.") {
		t.Errorf("after the undo: got %s", got)
	}
}
