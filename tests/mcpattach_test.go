package tests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// An attached client outlives its owner: while there is none it is told so, and
// with the next one it goes on.
func TestMCPOutlivesItsOwner(t *testing.T) {
	for name, end := range map[string]func(*mount, *testing.T){
		"restarted": (*mount).stop,
		"killed":    (*mount).kill,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
			client := s.mcp(t, m.vault)
			client.mustCall(t, "read", "file_path", "Vault/note.md")
			client.mustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")
			end(m, t)

			gone := client.call(t, "read", "file_path", "Vault/note.md")
			if !gone.isError || !strings.Contains(gone.text, "try again") && !strings.Contains(gone.text, "read the document again") {
				t.Errorf("read without an owner: %+v", gone)
			}
			if _, rpcError := client.ask(t, "tools/list", map[string]any{}); !strings.Contains(string(rpcError), "cannot be reached") {
				t.Errorf("tools/list without an owner: error %s", rpcError)
			}

			s.mountAt(t, m.vault, s.mkdir(t, "again"))
			unread := client.call(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
			if !unread.isError || !strings.HasPrefix(unread.text, "You must read this document") {
				t.Errorf("edit with a new owner: %+v", unread)
			}
			if got := client.mustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at seven") {
				t.Errorf("the first owner's suggestion is gone:\n%s", got)
			}
			client.mustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
			after := strings.NewReplacer("six", "seven", "quiet", "loud").Replace(saveBefore)
			raw := readFile(t, m.vaultPath("note.md"))
			if !strings.Contains(raw, "{++loud++}") || !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note is %q, want suggestions towards %q", raw, after)
			}
			client.close(t)
		})
	}
}

// When nobody serves the vault any more, an attached client's process does. Its
// subscriptions go on.
func TestMCPTakesOver(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	client := s.mcp(t, m.vault)
	client.request(t, "resources/subscribe", map[string]any{"uri": "note:///Vault/note.md"})
	m.stop(t)
	var text string
	eventually(t, startTimeout, func() error {
		got := client.call(t, "read", "file_path", "Vault/note.md")
		if text = got.text; got.isError {
			return fmt.Errorf("read without an owner: %s", got.text)
		}
		return nil
	})
	if !strings.Contains(text, "The tide turns at six") {
		t.Errorf("read: %s", text)
	}
	if status := s.run(t, "status", m.vault); !strings.Contains(status.stdout, "relayfs mcp (pid ") {
		t.Errorf("status: %s%s", status.stdout, status.stderr)
	}
	obsidianSave(t, m.vaultPath("note.md"), strings.Replace(saveBefore, "six", "nine", 1))
	expectNotice(t, client, "notifications/resources/updated")
	client.close(t)
	if status := s.run(t, "status", m.vault); !strings.HasPrefix(status.stdout, "not running") {
		t.Errorf("status after the end: %s", status.stdout)
	}
}

// expectNotice waits for a notification.
func expectNotice(t *testing.T, c *mcpClient, method string) {
	t.Helper()
	deadline := time.After(startTimeout)
	for {
		select {
		case line, open := <-c.out:
			var m struct{ Method string }
			if !open || json.Unmarshal(line, &m) == nil && m.Method == method {
				return
			}
		case <-deadline:
			t.Fatalf("no %s\n%s", method, c.log)
		}
	}
}

// An attached client that asked for it may change nothing, whatever the owner
// allows.
func TestMCPAttachedReadOnly(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	client := s.mcp(t, "--read-only", m.vault)
	client.mustCall(t, "read", "file_path", "Vault/note.md")
	list, _ := client.ask(t, "tools/list", map[string]any{})
	if strings.Contains(string(list), `"edit"`) || !strings.Contains(string(list), `"read"`) {
		t.Errorf("tools/list: %s", list)
	}
	_, rpcError := client.ask(t, "tools/call", map[string]any{"name": "edit", "arguments": map[string]any{
		"file_path": "Vault/note.md", "old_string": "six", "new_string": "seven",
	}})
	if rpcError == nil {
		t.Error("edit is not refused")
	}
	checkText(t, "vault's note", readFile(t, m.vaultPath("note.md")), saveBefore)
}
