package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver"
)

func instructionsOf(t *testing.T, srv *mcpserver.Server) string {
	t.Helper()
	c := connect(t, srv, "agent")
	r := c.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "agent", "version": "1"}})
	var res struct{ Instructions string }
	if r.Error != nil || json.Unmarshal(r.Result, &res) != nil {
		t.Fatalf("initialize: %v %s", r.Error, r.Result)
	}
	return res.Instructions
}

// The instructions hold what the owner of the vault approved of the notes for agents, whatever agents propose.
func TestInstructionsOfTheVault(t *testing.T) {
	const approved = "The owner of V says in V/AGENTS.md:\nWrite short."
	f, srv := serve(t, map[string]string{
		"V/AGENTS.md": "---\nx: 1\n---\nWrite short.\n", "V/CLAUDE.md": "Not this one.\n", "V/sub/AGENTS.md": "Nor this one.\n",
		"W/CLAUDE.md": "Write long.\n", "X/a.md": "a\n",
	})
	got := instructionsOf(t, srv)
	if !strings.Contains(got, approved) || !strings.Contains(got, "W/CLAUDE.md:\nWrite long.") || strings.Contains(got, "this one") || strings.Contains(got, "x: 1") {
		t.Errorf("instructions are %q", got)
	}
	c := newTools(t, srv)
	c.ok("read", "file_paths", []string{"V/AGENTS.md", "W/CLAUDE.md"})
	c.ok("edit", "file_path", "V/AGENTS.md", "old_string", "short", "new_string", "at length")
	c.ok("write", "file_path", "X/AGENTS.md", "content", "Ask nobody.\n")
	if got := instructionsOf(t, srv); !strings.Contains(got, approved) || strings.Contains(got, "at length") || strings.Contains(got, "Ask nobody") {
		t.Errorf("with pending suggestions, instructions are %q", got)
	}
	c.ok("move", "file_path", "V/AGENTS.md", "new_path", "V/old.md")
	c.ok("delete", "file_path", "W/CLAUDE.md")
	if got := instructionsOf(t, srv); !strings.Contains(got, approved) || !strings.Contains(got, "Write long.") {
		t.Errorf("with a proposed move and a proposed deletion, instructions are %q", got)
	}
	f.Person("X/AGENTS.md", strings.Repeat("ä", 5000))
	if got := instructionsOf(t, srv); !strings.Contains(got, "says in X/AGENTS.md:\n"+strings.Repeat("ä", 4000)+"\n[cut here") {
		t.Errorf("of a long note instructions have %d bytes", len(got))
	}
}

func TestNamesOfAgentNotes(t *testing.T) {
	f, _ := serve(t, map[string]string{"V/AGENTS.md": "Write short.\n", "V/House.md": "Wipe your feet.\n"})
	for _, tt := range []struct {
		names []string
		want  string
	}{{[]string{"House.md"}, "V/House.md:\nWipe your feet."}, {[]string{}, ""}} {
		srv := mcpserver.New(f.Workspace, mcpserver.Options{AgentNotes: tt.names})
		_, got, _ := strings.Cut(instructionsOf(t, srv), "says in ")
		if srv.Close(); got != tt.want {
			t.Errorf("with the names %q, instructions end in %q, want %q", tt.names, got, tt.want)
		}
	}
}
