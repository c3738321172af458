package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What an agent says of its session is shown to people beside the suggestions that it made before and after that,
// and to them only, over the end of the process.
func TestMCPSessionNote(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"a.md": "one two\n", "b.md": "one two\n", "c.md": "one two\n"})
	edit := func(c *harness.MCPClient, name string) {
		t.Helper()
		c.MustCall(t, "read", "file_path", "Vault/"+name)
		c.MustCall(t, "edit", "file_path", "Vault/"+name, "old_string", "two", "new_string", "three")
	}
	c := s.MCP(t, "--toolsets", "claude,vault", vault)
	edit(c, "a.md")
	c.MustCall(t, "set_session_note", "name", "<b>tides</b>")
	c.MustCall(t, "set_session_note", "purpose", "Mends the tide table")
	edit(c, "b.md")
	if got := c.Call(t, "set_session_note", "name", "\x1b[31mred"); !got.IsError {
		t.Errorf("a name with an escape sequence: %s", got.Text)
	}
	c.Close(t)
	other := s.MCP(t, "--toolsets", "claude", vault)
	edit(other, "c.md")
	other.Close(t)

	out := s.Run(t, "suggestions", "list", "--json", vault)
	var list []struct {
		Path        string
		SessionNote struct{ Name, Purpose string }
	}
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil || len(list) == 0 {
		t.Fatalf("%s: %v", out.Stdout, err)
	}
	for _, x := range list {
		want := struct{ Name, Purpose string }{"<b>tides</b>", "Mends the tide table"}
		if x.Path == "Vault/c.md" {
			want.Name, want.Purpose = "", ""
		}
		if x.SessionNote != want {
			t.Errorf("%s: session %+v, want %+v", x.Path, x.SessionNote, want)
		}
	}
	for _, args := range [][]string{{"suggestions", "list", vault}, {"suggestions", "show", vault}, {"suggestions", "log", vault}} {
		if out := s.Run(t, args...); !strings.Contains(out.Stdout, `"<b>tides</b>"`) {
			t.Errorf("%q does not name the session:\n%s%s", args, out.Stdout, out.Stderr)
		}
	}
	if out := s.Run(t, "suggestions", "undo", vault); out.Code == 0 || !strings.Contains(out.Stderr, "nothing to undo") {
		t.Errorf("a session's name is undone: %s%s", out.Stdout, out.Stderr)
	}
}
