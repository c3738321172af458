package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// scripted is a client that counts what its calls cost.
type scripted struct {
	*harness.MCPClient
	calls, bytes int // calls, and bytes of arguments and answers
}

func (c *scripted) must(t *testing.T, tool string, args ...any) harness.ToolResult {
	t.Helper()
	sent, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res := c.Call(t, tool, args...)
	c.calls++
	c.bytes += len(sent) + res.Size
	if res.IsError || strings.Contains(res.Text, "[error]") || res.Size > 40_000 {
		t.Fatalf("%s: %d bytes, %.2000s", tool, res.Size, res.Text)
	}
	return res
}

func (c *scripted) atMost(t *testing.T, calls int) {
	t.Helper()
	if c.calls > calls {
		t.Errorf("%d calls, want at most %d", c.calls, calls)
	}
	t.Logf("%d calls, about %d tokens", c.calls, c.bytes/4)
}

func contents(t *testing.T, vault string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, name := range harness.ListFiles(t, vault) {
		if !strings.HasSuffix(name, "/") {
			files[name] = harness.ReadFile(t, filepath.Join(vault, name))
		}
	}
	return files
}

// undoAll takes back all that the only session did that has anything pending, by one command, and checks that the
// vault is as it was.
func undoAll(t *testing.T, s *harness.Sandbox, vault string, before map[string]string) {
	t.Helper()
	session := s.Suggestions(t, vault)[0].Session
	if out := s.Run(t, "suggestions", "undo", "--session", session, vault); out.Code != 0 {
		t.Fatalf("undo: exit %d\n%s%s", out.Code, out.Stdout, out.Stderr)
	}
	if left := s.Suggestions(t, vault); len(left) > 0 {
		t.Errorf("%d suggestions are left: %v", len(left), left[0])
	}
	after := contents(t, vault)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s is %q, was %q", name, after[name], text)
		}
	}
	if len(after) != len(before) {
		t.Errorf("files %v, were %v", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

// Thirty notes are moved, and a property of each is changed: in text or as properties.
func TestMCPThirtyMovesWithProperties(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Index.md": ""}
	var paths []string
	for i := range 30 {
		name := fmt.Sprintf("Note %02d", i)
		files["Inbox/"+name+".md"] = fmt.Sprintf("---\ntitle: %s # as it came\nstatus: inbox\n---\nBody %d, see [[Note %02d]].\n", name, i, (i+1)%30)
		files["Index.md"] += "- [[Inbox/" + name + "]]\n"
		paths = append(paths, "Vault/Inbox/"+name+".md")
	}
	to := func(p string) string { return strings.Replace(p, "/Inbox/", "/Projects/", 1) }
	var moves, edits, sets []map[string]any
	for _, p := range paths {
		moves = append(moves, map[string]any{"file_path": p, "new_path": to(p)})
		edits = append(edits, map[string]any{"file_path": to(p), "old_string": "status: inbox", "new_string": "status: active"})
		sets = append(sets, map[string]any{"path": to(p)})
	}
	for _, tt := range []struct {
		name, toolsets string
		change         func(*testing.T, *scripted)
	}{
		{"default tools", "claude", func(t *testing.T, c *scripted) {
			c.must(t, "edit", "edits", edits)
		}},
		{"properties", "claude,notes", func(t *testing.T, c *scripted) {
			c.must(t, "set_properties", "notes", sets, "set", map[string]any{"status": "active"})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", files)
			before := contents(t, vault)
			c := &scripted{MCPClient: s.MCP(t, "--toolsets", tt.toolsets, vault)}
			c.must(t, "read", "file_paths", paths)
			c.must(t, "move", "moves", moves)
			tt.change(t, c)
			c.atMost(t, 6)
			renames := 0
			for _, sg := range s.Suggestions(t, vault) {
				if sg.Kind == "rename" {
					renames++
				}
			}
			if index := harness.ReadFile(t, vault+"/Index.md"); renames != 30 || strings.Count(index, "Projects/Note") != 30 {
				t.Errorf("%d renames wait, and the index is %s", renames, index)
			}
			for name := range files {
				if text := harness.ReadFile(t, filepath.Join(vault, name)); name != "Index.md" && !strings.Contains(text, "# as it came\nstatus: active\n---\nBody ") {
					t.Errorf("%s is %q", name, text)
				}
			}
			undoAll(t, s, vault, before)
		})
	}
}

// The open tasks of 2,000 notes come into one note.
func TestMCPOpenTasksOfAllNotes(t *testing.T) {
	t.Parallel()
	files := harness.GeneratedVault(2000)
	open := 0
	for name, text := range files {
		files[name] = text + "\n- [ ] ask about " + name + "\n"
		open += len(openTask.FindAllString(files[name], -1))
	}
	if open < 2000 {
		t.Fatalf("%d tasks are open in the notes", open)
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	before := contents(t, vault)
	c := &scripted{MCPClient: s.MCP(t, vault)}
	got := c.must(t, "tasks", "copy_to", "Vault/Open tasks.md").Text
	c.atMost(t, 3)
	if want := fmt.Sprintf("Copied %d tasks of 2000 documents to Vault/Open tasks.md; 1 suggestion added", open); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	copied := harness.ReadFile(t, vault+"/Open tasks.md")
	if n := len(openTask.FindAllString(strings.TrimPrefix(copied, "{++"), -1)); n != open {
		t.Errorf("%d tasks are copied, want %d", n, open)
	}
	for name := range files {
		if !strings.Contains(copied, "ask about "+name+" (") {
			t.Errorf("the task of %s is missing", name)
		}
	}
	undoAll(t, s, vault, before)
}

var openTask = regexp.MustCompile(`(?m)^\s*[-*+] \[ \]`)

// A term is fixed in the seven notes that are about a subject, which do not all have its word.
func TestMCPTermFixedInNotesFoundByMeaning(t *testing.T) {
	t.Parallel()
	files := harness.GeneratedVault(200)
	about := []string{
		"The sluice lets the tide into the salt pan, where the brine dries.", "Rake the brine when the salt pan has dried in the sun.", "Salt crust forms on the pan; the brine below stays wet.", "Each pan gets its brine from the sluice at spring tide.",
		"Carry the salt from the pan before rain thins the brine.", "The brine is strong enough when an egg swims in the pan.", "Clay keeps the brine in the pan through the summer.",
	}
	for i, line := range about {
		files[fmt.Sprintf("Works/Step %d.md", i+1)] = fmt.Sprintf("# Step %d\n\n%s\n\nWe call it bryne here.\n", i+1, line)
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	before := contents(t, vault)
	c := &scripted{MCPClient: s.MCP(t, vault)}
	found := c.must(t, "search", "query", "how is sea salt made in pans from brine", "limit", 12).Text
	var paths []string
	for i := range about {
		p := fmt.Sprintf("Vault/Works/Step %d.md", i+1)
		if !strings.Contains(found, p) {
			t.Fatalf("search does not find %s: %s", p, found)
		}
		paths = append(paths, p)
	}
	c.must(t, "read", "file_paths", paths)
	var edits []map[string]any
	for _, p := range paths {
		edits = append(edits, map[string]any{"file_path": p, "old_string": "bryne", "new_string": "brine"})
	}
	if got := c.must(t, "edit", "edits", edits).Text; !strings.HasPrefix(got, "7 of 7 done.") {
		t.Errorf("edit: got %.300s, want 7 of 7 done", got)
	}
	c.atMost(t, 4)
	waiting := s.Suggestions(t, vault)
	if len(waiting) != 7 {
		t.Errorf("got %d suggestions, want 7", len(waiting))
	}
	for i := range about {
		if text := harness.ReadFile(t, fmt.Sprintf("%s/Works/Step %d.md", vault, i+1)); !strings.Contains(text, "{--bryne--}{++brine++}") {
			t.Errorf("step %d is %q, want the term fixed as a suggestion", i+1, text)
		}
	}
	undoAll(t, s, vault, before)
}
