package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The words that clients build on, from read to edit to amend.
func TestMCPEdit(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Desk/note.md": harness.TideTable})
	client := s.MCP(t, vault)
	const path = "Vault/Desk/note.md"

	refused := client.Call(t, "edit", "file_path", path, "old_string", "six", "new_string", "seven")
	wantText := `You must read this document before editing it. Call the read tool with file_path: "` + path + `" first.`
	if !refused.IsError || refused.Text != wantText {
		t.Errorf("edit of an unread note: %+v, want the error %q", refused, wantText)
	}
	harness.CheckText(t, "vault's note", harness.ReadFile(t, vault+"/Desk/note.md"), harness.TideTable)

	if got := client.MustCall(t, "read", "file_path", path); !strings.Contains(got, "     3\tThe tide turns at six") {
		t.Errorf("read is not in the layout of cat -n:\n%s", got)
	}
	if got := client.MustCall(t, "edit", "file_path", path, "old_string", "six", "new_string", "half past seven"); !strings.HasPrefix(got, "Edited "+path+":") {
		t.Errorf("edit says %q", got)
	}
	checkRaw(t, vault, harness.TideTable, strings.Replace(harness.TideTable, "six", "half past seven", 1))

	// The second edit lies inside the first one's addition and amends it.
	client.MustCall(t, "edit", "file_path", path, "old_string", "past", "new_string", "to")
	raw := checkRaw(t, vault, harness.TideTable, strings.Replace(harness.TideTable, "six", "half to seven", 1))
	if n := strings.Count(raw, "{++"); n != 1 {
		t.Errorf("an amended addition became %d additions: %s", n, raw)
	}

	// And the third takes everything back.
	client.MustCall(t, "edit", "file_path", path, "old_string", "half to seven", "new_string", "six")
	harness.CheckText(t, "vault's note after taking back", harness.ReadFile(t, vault+"/Desk/note.md"), harness.TideTable)
}

func checkRaw(t *testing.T, vault, before, after string) string {
	t.Helper()
	raw := harness.ReadFile(t, vault+"/Desk/note.md")
	harness.CheckText(t, "original view", diffwrap.Everything.Original(raw), before)
	harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(raw), after)
	return raw
}

func TestMCPEditKeepsAPersonsEdit(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Desk/note.md": harness.TideTable})
	client := s.MCP(t, vault)
	client.MustCall(t, "read", "file_path", "Vault/Desk/note.md")
	persons := strings.Replace(harness.TideTable, "boats turn too", "boats turn as well", 1)
	harness.WriteFile(t, vault+"/Desk/note.md", persons)
	client.MustCall(t, "edit", "file_path", "Vault/Desk/note.md", "old_string", "at six", "new_string", "at seven")
	checkRaw(t, vault, persons, strings.Replace(persons, "six", "seven", 1))
}

func TestMCPBadArguments(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Desk/note.md": harness.TideTable, "../outside.md": "not yours\n"})
	client := s.MCP(t, vault)
	client.MustCall(t, "read", "file_path", "Vault/Desk/note.md")
	tests := []struct {
		name string
		tool string
		args []any
		want string // in the text
	}{
		{"parent folder", "read", []any{"file_path", "Vault/../../outside.md"}, ".."},
		{"parent folder, absolute", "read", []any{"file_path", "/Vault/../outside.md"}, ".."},
		{"NUL", "read", []any{"file_path", "Vault/a\x00b.md"}, "NUL"},
		{"too long", "read", []any{"file_path", "Vault/" + strings.Repeat("x", 300) + ".md"}, ""},
		{"no such note", "read", []any{"file_path", "Vault/Desk/nothing.md"}, "nothing.md"},
		{"no path", "read", nil, "file_path"},
		{"unknown argument", "read", []any{"file_path", "Vault/Desk/note.md", "colour", 3}, "colour"},
		{"wrong type", "read", []any{"file_path", 3}, "file_path"},
		{"bad pattern", "grep", []any{"pattern", "a(b"}, "a(b"},
		{"absent text", "edit", []any{"file_path", "Vault/Desk/note.md", "old_string", "nine", "new_string", "ten"}, "old_string not found in Vault/Desk/note.md"},
		{"ambiguous text", "edit", []any{"file_path", "Vault/Desk/note.md", "old_string", "[ ]", "new_string", "[x]"}, "old_string is not unique in Vault/Desk/note.md (2 occurrences found)"},
		{"equal texts", "edit", []any{"file_path", "Vault/Desk/note.md", "old_string", "six", "new_string", "six"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := client.Call(t, tt.tool, tt.args...)
			if !got.IsError || !strings.Contains(got.Text, tt.want) {
				t.Errorf("got %+v, want an error that names %q", got, tt.want)
			}
			if strings.Contains(got.Text, "not yours") {
				t.Errorf("a note outside the vault was read: %s", got.Text)
			}
		})
	}
	harness.CheckText(t, "vault's note", harness.ReadFile(t, vault+"/Desk/note.md"), harness.TideTable)
	if got := harness.ListFiles(t, vault); !slices.Equal(got, []string{"Desk/", "Desk/note.md"}) {
		t.Errorf("vault holds %q, want %q", got, []string{"Desk/", "Desk/note.md"})
	}
}

// Searching over MCP finds what ripgrep finds on the mount.
func TestMCPGrepEqualsRipgrep(t *testing.T) {
	t.Parallel()
	need.Programs(t, "rg")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", harness.GeneratedVault(1000)))
	client := s.MCP(t, m.Vault)
	for _, pattern := range []string{"lantern", `\[\[Note 1\d+\]\]`, "^- \\[x\\].*quay", "灯台|שלום"} {
		t.Run(pattern, func(t *testing.T) {
			rg := harness.OutputIn(t, m.Dir, []string{"rg", "--no-config", "--sort", "path", "-n", "--no-heading", pattern})
			got := client.MustCall(t, "grep", "pattern", pattern, "output_mode", "content", "-n", true, "head_limit", 40)
			want := strings.SplitN(strings.ReplaceAll(rg.Stdout, "\r\n", "\n"), "\n", 41)
			for i, line := range want[:min(40, len(want)-1)] {
				if !strings.Contains(got, line+"\n") && !strings.HasSuffix(got, line) {
					t.Fatalf("line %d of rg is missing: %s\n%s", i+1, line, got)
				}
			}
		})
	}
}

func TestMCPToolsListed(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	client := s.MCP(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ AdditionalProperties any }
			Annotations map[string]any
		}
	}
	if err := json.Unmarshal(client.Request(t, "tools/list", map[string]any{}), &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.InputSchema.AdditionalProperties != false {
			t.Errorf("%s: additionalProperties is %v, want %v", tool.Name, tool.InputSchema.AdditionalProperties, false)
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, set := tool.Annotations[hint]; !set {
				t.Errorf("%s: %s is not set", tool.Name, hint)
			}
		}
	}
	for _, want := range []string{"read", "glob", "grep", "edit", "get_links"} {
		if !slices.Contains(names, want) {
			t.Errorf("no tool %s in %v", want, names)
		}
	}
}

func TestMCPGetLinks(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	client := s.MCP(t, s.Vault(t, "Lens", map[string]string{
		"Biology 101.md":    "Start with [[Photosynthesis]].\n",
		"Photosynthesis.md": "Rests on [[Cell Theory|cells]] and [[Light]].\n",
		"Cell Theory.md":    "Nothing.\n",
	}))
	want := fmt.Sprintf("Backlinks (documents linking to this):\n- %s\n\nForward links (documents this links to):\n- %s\n\nUnresolved links:\n- %s",
		"Lens/Biology 101.md", "Lens/Cell Theory.md", "Light")
	got := client.MustCall(t, "get_links", "file_path", "Lens/Photosynthesis.md")
	harness.CheckText(t, "get_links", strings.TrimSpace(got), want)
}
