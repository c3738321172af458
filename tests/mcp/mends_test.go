package mcp

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// moveOutcome is whether an item of a call of move succeeds.
var moveOutcome = regexp.MustCompile(`(?m)^(\d+)\. (\[error\])?`)

// A dry run foresees which moves of a call succeed: endings, names that are taken, and what earlier moves of the same
// call make possible or impossible.
func TestMCPMovesAreForeseen(t *testing.T) {
	t.Parallel()
	names := []string{"a.md", "b.md", "c.md", "d.txt", "e.txt", "Sub", "Sub/x.md", "Sub/y.md", "New", "New/x.md", "New/a.md", "a", "b", "Sub/Sub", "Sub/x.txt"}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		var moves []map[string]any
		for range 2 + r.IntN(5) {
			moves = append(moves, map[string]any{"file_path": "Vault/" + names[r.IntN(len(names))], "new_path": "Vault/" + names[r.IntN(len(names))]})
		}
		if seed == 0 {
			moves = []map[string]any{{"file_path": "Vault/a.md", "new_path": "Vault/t.md"}, {"file_path": "Vault/b.md", "new_path": "Vault/a.md"}, {"file_path": "Vault/t.md", "new_path": "Vault/b.md"}, {"file_path": "Vault/c.md", "new_path": "Vault/c.txt"}}
		}
		s := harness.NewSandbox(t)
		vault := s.Vault(t, "Vault", map[string]string{"a.md": "a [[b]]\n", "b.md": "b\n", "c.md": "c\n", "d.txt": "d", "Sub/x.md": "x\n", "Sub/y.md": "y\n"})
		c := s.MCP(t, "--structure", "direct", vault)
		before := contents(t, vault)
		want := moveOutcome.FindAllString(c.Call(t, "move", "moves", moves, "dry_run", true).Text, -1)
		for name, text := range contents(t, vault) {
			if before[name] != text {
				t.Fatalf("the dry run changed %s", name)
			}
		}
		done := c.Call(t, "move", "moves", moves).Text
		if got := moveOutcome.FindAllString(done, -1); fmt.Sprint(got) != fmt.Sprint(want) || len(got) != len(moves) {
			t.Errorf("seed %d: %v foreseen as %q, and did %s", seed, moves, want, done)
		}
		c.Close(t)
	}
}

// Of headings that read alike, each can be named, as the refusal has it.
func TestMCPEqualHeadings(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "# A\n\n## Plan\n\none\n\n# B\n\n## Plan\n\none\n"})
	c := s.MCP(t, "--mode", "direct", "--approve", "auto", "--toolsets", "claude,notes", vault)
	got := c.Call(t, "read", "file_path", "Vault/Plan.md", "section", "## Plan")
	if want := `several sections "## Plan": ## Plan (line 3), ## Plan (line 9). Name one of them as it stands here`; !got.IsError || !strings.Contains(got.Text, want) {
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
