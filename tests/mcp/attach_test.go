package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// An attached client outlives its owner: while there is none it is told so, and
// with the next one it goes on.
func TestMCPOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*harness.Mount, *testing.T){
		"restarted": (*harness.Mount).Stop,
		"killed":    (*harness.Mount).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
			client := s.MCP(t, m.Vault)
			client.MustCall(t, "read", "file_path", "Vault/note.md")
			client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")
			end(m, t)

			deleted := client.Call(t, "read", "file_path", "Vault/note.md")
			if !deleted.IsError || !strings.Contains(deleted.Text, "try again") && !strings.Contains(deleted.Text, "read the document again") {
				t.Errorf("read without an owner: %+v", deleted)
			}
			if _, rpcError := client.Ask(t, "tools/list", map[string]any{}); !strings.Contains(string(rpcError), "cannot be reached") {
				t.Errorf("tools/list without an owner: error %s", rpcError)
			}

			s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
			unread := client.Call(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
			if !unread.IsError || !strings.HasPrefix(unread.Text, "You must read this document") {
				t.Errorf("edit with a new owner: %+v", unread)
			}
			if got := client.MustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at seven") {
				t.Errorf("the first owner's suggestion is gone:\n%s", got)
			}
			client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
			after := strings.NewReplacer("six", "seven", "quiet", "loud").Replace(harness.TideTable)
			raw := harness.ReadFile(t, m.VaultPath("note.md"))
			if !strings.Contains(raw, "{++loud++}") || !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note is %q, want suggestions towards %q", raw, after)
			}
			client.Close(t)
		})
	}
}

// When nobody serves the vault any more, an attached client's process does. Its
// subscriptions go on.
func TestMCPTakesOver(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	client := s.MCP(t, m.Vault)
	client.Request(t, "resources/subscribe", map[string]any{"uri": "note:///Vault/note.md"})
	m.Stop(t)
	var text string
	harness.Eventually(t, harness.StartTimeout, func() error {
		got := client.Call(t, "read", "file_path", "Vault/note.md")
		if text = got.Text; got.IsError {
			return fmt.Errorf("read without an owner: %s", got.Text)
		}
		return nil
	})
	if !strings.Contains(text, "The tide turns at six") {
		t.Errorf("read: %s", text)
	}
	if status := s.Run(t, "status", m.Vault); !strings.Contains(status.Stdout, "relayfs mcp (pid ") {
		t.Errorf("status: %s%s", status.Stdout, status.Stderr)
	}
	harness.WriteFile(t, m.VaultPath("note.md"), strings.Replace(harness.TideTable, "six", "nine", 1))
	expectNotice(t, client, "notifications/resources/updated")
	client.Close(t)
	if status := s.Run(t, "status", m.Vault); !strings.HasPrefix(status.Stdout, "not running") {
		t.Errorf("status after the end: %s", status.Stdout)
	}
}

// expectNotice waits for a notification.
func expectNotice(t *testing.T, c *harness.MCPClient, method string) {
	t.Helper()
	deadline := time.After(harness.StartTimeout)
	for {
		select {
		case line, open := <-c.Out:
			var m struct{ Method string }
			if !open || json.Unmarshal(line, &m) == nil && m.Method == method {
				return
			}
		case <-deadline:
			t.Fatalf("no %s\n%s", method, c.Log)
		}
	}
}

// An attached client that asked for it may change nothing, whatever the owner
// allows.
func TestMCPAttachedReadOnly(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	client := s.MCP(t, "--read-only", m.Vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	list, _ := client.Ask(t, "tools/list", map[string]any{})
	if strings.Contains(string(list), `"edit"`) || !strings.Contains(string(list), `"read"`) {
		t.Errorf("tools/list: %s", list)
	}
	_, rpcError := client.Ask(t, "tools/call", map[string]any{"name": "edit", "arguments": map[string]any{
		"file_path": "Vault/note.md", "old_string": "six", "new_string": "seven",
	}})
	if rpcError == nil {
		t.Error("edit is not refused")
	}
	harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("note.md")), harness.TideTable)
}
