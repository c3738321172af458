package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

func questionVault() map[string]string {
	return map[string]string{
		"Projects/Pond.md":     "---\nstatus: open\npriority: 3\ndue: 2026-01-31\naliases: [The Pool]\n---\nThe pond. #work/urgent\n",
		"Projects/Fence.md":    "---\nstatus: done\npriority: 1\ndue: 2026-03-01\n---\nMend it, see [[Pond]].\n",
		"Projects/Garden.md":   "---\nstatus: open\npriority: 10\n---\nOne\n\nThe pool and the pond need care. Not the pondweed.\nBut see [[Pond|the pond]].\n",
		"Orphan.md":            "Nobody links here. Look at [the pond](Projects/Pond.md) though.\n",
		"Index.md":             "[[Garden]] [[Fence]] [[Index]]\n",
		"Elsewhere/Private.md": "no properties\n",
	}
}

// asked is the answer of property_search and find_links.
type asked struct {
	Matches, Found []struct {
		Path, Text string
		Line       int
	}
	Count      int
	NextCursor string `json:"next_cursor"`
}

func (a asked) lines() (lines []string) {
	for _, n := range a.Matches {
		lines = append(lines, strings.TrimPrefix(n.Path, "Vault/"))
	}
	for _, f := range a.Found {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", strings.TrimPrefix(f.Path, "Vault/"), f.Line, f.Text))
	}
	return lines
}

func ask(t *testing.T, c *harness.MCPClient, tool string, args ...any) asked {
	t.Helper()
	var a asked
	if text := c.MustCall(t, tool, args...); json.Unmarshal([]byte(text), &a) != nil {
		t.Fatalf("%s: %s", tool, text)
	}
	return a
}

// not is the condition that a property is not v.
func not(v any) any { return map[string]any{"!=": v} }

func TestMCPQuestions(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", questionVault())
	c := s.MCP(t, "--toolsets", "claude,notes", vault)
	for _, tt := range []struct {
		tool string
		args []any
		want []string
	}{
		{"property_search", []any{"properties", map[string]any{"status": not("done"), "priority": map[string]any{">=": 3}}}, []string{"Projects/Garden.md", "Projects/Pond.md"}},
		{"property_search", []any{"properties", map[string]any{"due": map[string]any{"exists": false}}, "folder", "Vault/Projects"}, []string{"Projects/Garden.md"}},
		{"property_search", []any{"properties", map[string]any{"due": map[string]any{"<": "2026-02-15"}}}, []string{"Projects/Pond.md"}},
		{"property_search", []any{"properties", map[string]any{"status": "open", "priority": map[string]any{">": 3}}}, []string{"Projects/Garden.md"}},
		{"property_search", []any{"properties", map[string]any{"tags": not("work")}, "folder", "Vault/Projects"}, []string{"Projects/Fence.md", "Projects/Garden.md"}},
		{"find_links", []any{"kind", "orphans"}, []string{"Elsewhere/Private.md:0: ", "Index.md:0: ", "Orphan.md:0: "}},
		{"find_links", []any{"kind", "backlinks", "path", "Vault/Projects/Pond.md"}, []string{
			"Orphan.md:1: Nobody links here. Look at [the pond](Projects/Pond.md) though.", "Projects/Fence.md:6: Mend it, see [[Pond]].", "Projects/Garden.md:8: But see [[Pond|the pond]].",
		}},
		{"find_links", []any{"kind", "unlinked_mentions", "path", "Vault/Projects/Pond.md"}, []string{"Projects/Garden.md:7: The pool and the pond need care. Not the pondweed."}},
	} {
		got := ask(t, c, tt.tool, tt.args...).lines()
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %v: got %q, want %q", tt.tool, tt.args, got, tt.want)
		}
	}
	if got := c.MustCall(t, "search", "query", "pond", "properties", map[string]any{"status": not("open")}); !strings.Contains(got, "Fence.md") || strings.Contains(got, "Garden.md") {
		t.Errorf("search: got %s, want Fence.md alone", got)
	}
	// A line that was shown may be edited.
	c.MustCall(t, "edit", "file_path", "Vault/Projects/Garden.md", "old_string", "the pond need care", "new_string", "the [[Pond|pond]] need care")
}
