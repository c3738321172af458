package mcp

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What is hidden is in no answer of any tool, be it asked for by name or found; nothing is made there, and nothing that is
// locked changes. A user sees both.
func TestHiddenAndLocked(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"Open.md":                "---\nstatus: open\n---\n# Open\n\nSee [[Hidden Plan]] and [[Kept]] and words.\n\n- [ ] task\n",
		"Private/Hidden Plan.md": "---\nstatus: open\nsecretkey: zanzibar\ntags: [zanzibartag]\n---\n# Zanzibar\n\nzanzibar [[Open]] words {++zanzibar++}{>>zanzibar<<}\n\n- [ ] zanzibar\n",
		"Private/z.canvas":       `{"nodes":[{"id":"a","type":"text","x":0,"y":0,"width":1,"height":1,"text":"zanzibar"}]}`,
		"work/Diary/day.md":      "zanzibar [[Open]]\n",
		"work/plain.md":          "plain words\n",
		"Locked/Kept.md":         "---\nstatus: open\n---\n# Kept\n\nkept words\n\n- [ ] kept\n",
		"Locked/kept.canvas":     `{"nodes":[],"edges":[]}`,
		"Locked/kept.base":       "views: []\n",
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), "hide = [\"{Private,**/Diary}\"]\nlock = [\"/Locked\"]\n")
	c := s.MCP(t, "--toolsets", "claude,notes,content,vault", vault)

	const hidden, locked, fresh = "Vault/Private/Hidden Plan.md", "Vault/Locked/Kept.md", "Vault/Private/New.md"
	c.MustCall(t, "read", "file_path", locked)
	c.MustCall(t, "get_content", "entity_type", "canvas", "path", "Vault/Locked/kept.canvas")
	type args = []any
	// Of each tool: calls that find things, and calls that have to fail because of a rule.
	calls := map[string]struct{ find, fail []args }{
		"append":               {nil, []args{{"path", hidden, "content", "x"}, {"path", locked, "content", "x"}}},
		"changes":              {[]args{{}, {"path", "Vault/Open.md"}}, []args{{"path", hidden}}},
		"comment":              {nil, []args{{"file_path", hidden, "anchor_text", "words", "comment", "x"}, {"file_path", locked, "anchor_text", "kept words", "comment", "x"}}},
		"create_from_template": {nil, []args{{"template", hidden, "path", "Vault/t.md"}, {"template", "Vault/Open.md", "path", fresh}}},
		"create_note":          {nil, []args{{"path", fresh, "content", "x"}, {"path", "Vault/Locked/New.md", "content", "x"}, {"path", "Vault/private/New.md", "content", "x"}}},
		"delete":               {nil, []args{{"file_path", hidden}, {"file_path", locked}}},
		"delete_note":          {nil, []args{{"path", hidden}, {"path", locked}}},
		"edit":                 {nil, []args{{"file_path", hidden, "old_string", "words", "new_string", "x"}, {"file_path", locked, "old_string", "kept words", "new_string", "x"}}},
		"find_links":           {[]args{{"kind", "orphans"}, {"kind", "backlinks", "path", "Vault/Open.md"}, {"kind", "unlinked_mentions", "path", "Vault/Open.md"}}, []args{{"kind", "backlinks", "path", hidden}}},
		"get_content":          {nil, []args{{"entity_type", "canvas", "path", "Vault/Private/z.canvas"}, {"entity_type", "note", "path", hidden}}},
		"get_kiln_info":        {[]args{{}, {"detailed", true}}, nil},
		"get_links":            {[]args{{"file_path", "Vault/Open.md"}}, []args{{"file_path", hidden}}},
		"get_url":              {nil, []args{{"path", hidden}}},
		"glob":                 {[]args{{"pattern", "**/*"}, {"pattern", "**/*.md", "path", "Vault"}}, nil},
		"grep":                 {[]args{{"pattern", "words"}, {"pattern", "words", "output_mode", "count"}, {"pattern", "z.nzibar"}, {"pattern", "words", "output_mode", "content"}}, nil},
		"list_notes":           {[]args{{}, {"folder", "Vault", "recursive", true, "include_frontmatter", true}}, []args{{"folder", "Vault/Private"}}},
		"list_suggestions":     {[]args{{}}, []args{{"path", hidden}}},
		"move":                 {nil, []args{{"file_path", hidden, "new_path", "Vault/x.md"}, {"file_path", locked, "new_path", "Vault/x.md"}, {"file_path", "Vault/Open.md", "new_path", fresh}, {"file_path", "Vault/work", "new_path", "Vault/out"}, {"file_path", "Vault/Locked", "new_path", "Vault/out"}}},
		"outline":              {nil, []args{{"path", hidden}}},
		"patch_content":        {nil, []args{{"entity_type", "note", "path", hidden, "old_string", "words", "new_string", "x"}, {"entity_type", "note", "path", locked, "old_string", "kept words", "new_string", "x"}}},
		"periodic_note":        {[]args{{"period", "daily", "create", false}}, nil},
		"property_search":      {[]args{{"properties", map[string]any{"status": "open"}}, {"properties", map[string]any{"secretkey": map[string]any{"exists": true}}}}, nil},
		"read":                 {nil, []args{{"file_path", hidden}, {"file_path", "Hidden Plan"}, {"file_path", "Vault/Private/z.canvas"}}},
		"read_content_lines":   {nil, []args{{"entity_type", "note", "path", hidden}}},
		"read_metadata":        {nil, []args{{"path", hidden}}},
		"read_note":            {nil, []args{{"path", hidden}}},
		"replace_content":      {nil, []args{{"entity_type", "canvas", "path", "Vault/Private/n.canvas", "content", "{}"}, {"entity_type", "canvas", "path", "Vault/Locked/kept.canvas", "content", "{}"}}},
		"search":               {[]args{{"query", "words"}, {"query", "zanzibar"}}, nil},
		"search_content":       {[]args{{"pattern", "words", "entity_type", "note"}, {"pattern", "z.nzibar", "entity_type", "canvas"}}, nil},
		"semantic_search":      {[]args{{"query", "words"}, {"query", "zanzibar"}}, nil},
		"set_properties":       {nil, []args{{"path", hidden, "set", map[string]any{"a": 1}}, {"path", locked, "set", map[string]any{"a": 1}}}},
		"set_session_note":     {[]args{{"name", "a session"}}, nil},
		"tags":                 {[]args{{}, {"action", "list"}}, nil},
		"tasks":                {[]args{{}}, nil},
		"text_search":          {[]args{{"query", "words"}, {"query", "z?nzibar"}}, nil},
		"update_note":          {nil, []args{{"path", hidden, "content", "x"}, {"path", locked, "content", "x"}}},
		"validate":             {[]args{{}}, []args{{"path", hidden}}},
		"write":                {nil, []args{{"file_path", hidden, "content", "x"}, {"file_path", locked, "content", "x"}, {"file_path", fresh, "content", "x"}, {"file_path", "Vault/work/Diary/x.md", "content", "x"}}},
	}
	var offered struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.Request(t, "tools/list", map[string]any{}), &offered); err != nil || len(offered.Tools) == 0 {
		t.Fatal(err, offered)
	}
	for _, tool := range offered.Tools {
		call, ok := calls[tool.Name]
		if !ok {
			t.Errorf("%s is not tried here", tool.Name)
		}
		for _, a := range call.find {
			res := c.Call(t, tool.Name, a...)
			// The links of a note that is shown may name what is hidden, and a query comes back in the answer.
			text := strings.ReplaceAll(strings.ReplaceAll(res.Text, "[[Hidden Plan]]", ""), "words zanzibar (", "")
			text = strings.ReplaceAll(text, `"query":"zanzibar"`, "")
			if tool.Name == "get_links" {
				text = strings.ReplaceAll(text, "- Hidden Plan", "")
			}
			if res.IsError || strings.Contains(strings.ToLower(text), "zanzibar") || strings.Contains(text, "Hidden Plan") || strings.Contains(text, "Diary") || strings.Contains(text, "Private") {
				t.Errorf("%s %v says %s", tool.Name, a, res.Text)
			}
		}
		for _, a := range call.fail {
			if res := c.Call(t, tool.Name, a...); !res.IsError || strings.Contains(res.Text, "zanzibar") {
				t.Errorf("%s %v says %s", tool.Name, a, res.Text)
			}
		}
	}
	for name, want := range map[string][]string{
		"edit":        {"file_path", locked, "old_string", "kept words", "new_string", "x"},
		"create_note": {"path", fresh, "content", "x"},
	} {
		rule := map[string]string{"edit": `lock = "/Locked"`, "create_note": `hide = "{Private,**/Diary}"`}[name]
		var a args
		for _, word := range want {
			a = append(a, word)
		}
		if res := c.Call(t, name, a...); !strings.Contains(res.Text, rule) {
			t.Errorf("%s does not name the rule: %s", name, res.Text)
		}
	}
	if got := c.MustCall(t, "get_links", "file_path", "Vault/Open.md"); !strings.Contains(got, "Unresolved links:\n- Hidden Plan") || strings.Contains(got, "day.md") {
		t.Errorf("get_links says %s", got)
	}
	if got := c.MustCall(t, "grep", "pattern", "words", "output_mode", "count"); strings.Contains(got, "Private") || !strings.Contains(got, "plain.md:1") {
		t.Errorf("grep counts %s", got)
	}
	if list := string(c.Request(t, "resources/list", map[string]any{})); strings.Contains(list, "Private") || !strings.Contains(list, "Open.md") {
		t.Errorf("resources: %s", list)
	}
	if _, failed := c.Ask(t, "resources/read", map[string]any{"uri": "note:///" + strings.ReplaceAll(hidden, " ", "%20")}); failed == nil {
		t.Error("the hidden note is a resource")
	}

	// Links in it follow a rename as elsewhere, and the answer does not count them.
	if got := c.MustCall(t, "move", "file_path", "Vault/Open.md", "new_path", "Vault/Opened.md"); !strings.Contains(got, "No link elsewhere") {
		t.Errorf("move says %s", got)
	}
	c.Close(t)
	for name, text := range files {
		if name != "Open.md" && !strings.Contains(text, "[[Open]]") {
			harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(vault, name)), text)
		}
	}
	if got := harness.ReadFile(t, filepath.Join(vault, "work/Diary/day.md")); !strings.Contains(got, "[[{--Open--}{++Opened++}]]") && !strings.Contains(got, "Opened") {
		t.Errorf("the link of a hidden note: %s", got)
	}
	if out := s.Run(t, "suggestions", "list", vault); !strings.Contains(out.Stdout, "Private/Hidden Plan.md") {
		t.Errorf("the user's list: %+v", out)
	}
	s.Env = append(s.Env, "CLAUDE_CODE_SESSION_ID=1", "RELAYFS_AGENTS=claude")
	if out := s.Run(t, "suggestions", "list", vault); out.Code != 0 || strings.Contains(out.Stdout, "Private") {
		t.Errorf("the agent's list: %+v", out)
	}
	for _, args := range [][]string{{"cat", hidden}, {"history", hidden}, {"show", hidden + "@now"}} {
		if out := s.Run(t, append(args, "--source", vault)...); out.Code == 0 {
			t.Errorf("an agent's %v: %+v", args, out)
		}
	}
}
