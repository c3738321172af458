package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// changingCall is a call of a tool that creates, changes or deletes.
type changingCall struct {
	kind string // as --approve names it
	file string // what it is about, in the vault; each has one of its own
	tool string
	args []any
	read []any // the call by which a session is shown what it is about; nil if none is needed
}

const (
	approveNote   = "One line.\nAnother line.\n\n- [ ] A task.\n"
	approveCanvas = `{"nodes":[],"edges":[]}`
)

// changingCalls has calls of each tool that is no reader.
var changingCalls = []changingCall{
	{"update", "edit.md", "edit", []any{"file_path", "Vault/edit.md", "old_string", "One", "new_string", "Two"}, []any{"read", "file_path", "Vault/edit.md"}},
	{"update", "all.md", "edit", []any{"file_path", "Vault/all.md", "old_string", "line", "new_string", "row", "replace_all", true}, []any{"read", "file_path", "Vault/all.md"}},
	{"update", "write.md", "write", []any{"file_path", "Vault/write.md", "content", "Two lines.\n"}, []any{"read", "file_path", "Vault/write.md"}},
	{"update", "edits.md", "edit", []any{"edits", []any{map[string]any{"file_path": "Vault/edits.md", "old_string": "One", "new_string": "Two"}, map[string]any{"file_path": "Vault/edits.md", "old_string": "Another", "new_string": "A third"}}}, []any{"read", "file_path", "Vault/edits.md"}},
	{"update", "moves.md", "move", []any{"moves", []any{map[string]any{"file_path": "Vault/moves.md", "new_path": "Vault/many/moved.md"}}}, nil},
	{"update", "toggle.md", "tasks", []any{"toggle", []any{"Vault/toggle.md:4"}}, []any{"tasks", "path", "Vault/toggle.md"}},
	{"update", "copied.md", "tasks", []any{"path", "Vault/comment.md", "copy_to", "Vault/copied.md"}, nil},
	{"create", "", "tasks", []any{"path", "Vault/comment.md", "copy_to", "Vault/sub/tasks.md"}, nil},
	{"create", "", "write", []any{"file_path", "Vault/sub/new.md", "content", "New.\n"}, nil},
	{"update", "move.md", "move", []any{"file_path", "Vault/move.md", "new_path", "Vault/made/moved.md"}, nil},
	{"delete", "delete.md", "delete", []any{"file_path", "Vault/delete.md"}, nil},
	{"update", "comment.md", "comment", []any{"file_path", "Vault/comment.md", "anchor_text", "One", "comment", "Why?"}, nil},
	{"create", "", "create_note", []any{"path", "Vault/sub/created.md", "content", "New.\n"}, nil},
	{"update", "update.md", "update_note", []any{"path", "Vault/update.md", "content", "Two lines.\n"}, []any{"read_note", "path", "Vault/update.md"}},
	{"update", "front.md", "update_note", []any{"path", "Vault/front.md", "frontmatter", map[string]any{"k": "v"}}, []any{"read_note", "path", "Vault/front.md"}},
	{"update", "append.md", "append", []any{"path", "Vault/append.md", "content", "More."}, nil},
	{"update", "one.md", "set_properties", []any{"path", "Vault/one.md", "set", map[string]any{"k": "v"}}, nil},
	{"update", "set.md", "set_properties", []any{"notes", []any{map[string]any{"path": "Vault/set.md"}}, "set", map[string]any{"k": "v"}}, nil},
	{"update", "tagged.md", "tags", []any{"action", "add", "tag", "new", "path", "Vault/tagged.md"}, nil},
	{"delete", "deletenote.md", "delete_note", []any{"path", "Vault/deletenote.md"}, nil},
	{"update", "patch.md", "patch_content", []any{"entity_type", "note", "path", "Vault/patch.md", "old_string", "One", "new_string", "Two"}, []any{"get_content", "entity_type", "note", "path", "Vault/patch.md"}},
	{"update", "patch.canvas", "patch_content", []any{"entity_type", "canvas", "path", "Vault/patch.canvas", "old_string", `,"edges":[]`, "new_string", ""}, []any{"get_content", "entity_type", "canvas", "path", "Vault/patch.canvas"}},
	{"update", "replace.md", "replace_content", []any{"entity_type", "note", "path", "Vault/replace.md", "content", "Two lines.\n"}, []any{"get_content", "entity_type", "note", "path", "Vault/replace.md"}},
	{"update", "replace.base", "replace_content", []any{"entity_type", "base", "path", "Vault/replace.base", "content", "a: 2\n"}, []any{"get_content", "entity_type", "base", "path", "Vault/replace.base"}},
	{"create", "", "periodic_note", []any{"date", "2026-01-31"}, nil},
	{"create", "", "create_from_template", []any{"template", "Vault/comment.md", "path", "Vault/sub/templated.md"}, nil},
	{"create", "", "replace_content", []any{"entity_type", "note", "path", "Vault/sub/replaced.md", "content", "New.\n"}, nil},
	{"create", "", "replace_content", []any{"entity_type", "canvas", "path", "Vault/new.canvas", "content", "{}"}, nil},
}

func approveVault() map[string]string {
	files := make(map[string]string)
	for _, c := range changingCalls {
		switch filepath.Ext(c.file) {
		case ".md":
			files[c.file] = approveNote
		case ".canvas":
			files[c.file] = approveCanvas
		case ".base":
			files[c.file] = "a: 1\n"
		}
	}
	return files
}

// Every tool that is not marked as a reader has a call here, and every one that is
// has none: a new tool has to be thought of.
func TestMCPApprovalKnowsEveryTool(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	c := s.MCP(t, "--toolsets", allToolsets, s.Vault(t, "Vault", approveVault()))
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
		}
	}
	if err := json.Unmarshal(c.Request(t, "tools/list", map[string]any{}), &list); err != nil || len(list.Tools) < 20 {
		t.Fatalf("%d tools: %v", len(list.Tools), err)
	}
	readers := []string{
		"read", "glob", "grep", "search", "get_links", "list_suggestions", "read_note", "read_metadata", "list_notes", "text_search",
		"property_search", "semantic_search", "outline", "validate", "get_kiln_info", "changes", "get_url", "find_links", "search_content", "read_content_lines", "get_content",
	}
	for _, tool := range list.Tools {
		if tool.Name == "set_session_note" { // changes nothing in the vault, and a reader may not do it
			continue
		}
		called := slices.ContainsFunc(changingCalls, func(c changingCall) bool { return c.tool == tool.Name })
		if reads := slices.Contains(readers, tool.Name); reads == called || reads != tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: a reader %v, says so %v, has a call that changes %v", tool.Name, reads, tool.Annotations.ReadOnlyHint, called)
		}
	}
}

// vaultState is everything that is in a vault, without the temporary files that
// relayfs tidies away when it comes to that.
func vaultState(t *testing.T, vault string) map[string]string {
	t.Helper()
	state := make(map[string]string)
	for _, name := range harness.ListFiles(t, vault) {
		if base := filepath.Base(name); strings.HasPrefix(base, ".relayfs-") && strings.HasSuffix(base, ".tmp") {
			continue
		}
		state[name] = ""
		if !strings.HasSuffix(name, "/") {
			state[name] = harness.ReadFile(t, filepath.Join(vault, name))
		}
	}
	return state
}

var (
	saysYes = map[string]any{"action": "accept", "content": map[string]any{"approve": true}}
	saysNo  = map[string]any{"action": "decline"}
)

// --approve is about every tool of every toolset: what it does not let through
// changes nothing, what a person agrees to is done, and who cannot be asked is told
// with what to start relayfs.
func TestMCPApprovalOfEveryTool(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"suggest", "direct"} {
		for _, tt := range []struct {
			name    string
			approve []string
			answer  map[string]any
			refused string // what the refusal says; "" if it is done
			asked   bool
		}{
			{"deny", []string{"deny"}, nil, "--approve", false},
			{"deny although the client could ask", []string{"deny"}, saysYes, "--approve", false},
			{"ask who cannot", []string{"ask"}, nil, "--approve KIND=auto", false},
			{"ask, no", []string{"ask"}, saysNo, "declined to", true},
			{"ask, yes", []string{"ask"}, saysYes, "", true},
			{"auto", []string{"auto"}, nil, "", false},
			{"default", nil, saysYes, "", mode == "direct"},
			{"default, no", nil, saysNo, map[string]string{"direct": "declined to"}[mode], mode == "direct"},
			{"default, who cannot", nil, nil, map[string]string{"direct": "--approve KIND=auto"}[mode], false},
			{"deny one kind", []string{"auto,create=deny"}, nil, "create only", false},
		} {
			t.Run(mode+", "+tt.name, func(t *testing.T) {
				s := harness.NewSandbox(t)
				vault := s.Vault(t, "Vault", approveVault())
				args := []string{"--mode", mode, "--structure", map[string]string{"suggest": "propose", "direct": "direct"}[mode], "--toolsets", allToolsets}
				for _, a := range tt.approve {
					args = append(args, "--approve", a)
				}
				c := s.MCPAnswering(t, tt.answer, append(args, vault)...)
				for _, call := range changingCalls {
					refused := tt.refused
					switch {
					case refused == "create only" && call.kind == "create":
						refused = "--approve"
					case refused == "create only":
						refused = ""
					}
					checkApproval(t, c, vault, call, refused, tt.asked)
				}
			})
		}
	}
}

// checkApproval makes a call that is to be refused in the given words, or done.
func checkApproval(t *testing.T, c *harness.MCPClient, vault string, call changingCall, refused string, asked bool) {
	t.Helper()
	what := fmt.Sprint(call.tool, call.args)
	if call.read != nil {
		c.MustCall(t, call.read[0].(string), call.read[1:]...)
	}
	before, waiting := vaultState(t, vault), waitingList(t, c)
	c.Questions = nil
	got := c.Call(t, call.tool, call.args...)
	changed := !maps.Equal(before, vaultState(t, vault)) || waitingList(t, c) != waiting
	if (len(c.Questions) == 1) != asked || len(c.Questions) > 1 {
		t.Errorf("%s: asked %q", what, c.Questions)
	}
	if refused == "" {
		if got.IsError || !changed {
			t.Errorf("%s is not done: %s", what, got.Text)
		}
		return
	}
	if !got.IsError || changed {
		t.Errorf("%s: error %v, changed %v: %s", what, got.IsError, changed, got.Text)
	}
	want := strings.Replace(refused, "KIND", call.kind, 1)
	if !strings.Contains(got.Text, want) {
		t.Errorf("%s: the refusal does not say %q: %s", what, want, got.Text)
	}
	if call.kind == "delete" && want != refused && !strings.Contains(got.Text, "confirm: true") {
		t.Errorf("%s: the refusal does not say how to confirm: %s", what, got.Text)
	}
}

// waitingList is what waits for a person.
func waitingList(t *testing.T, c *harness.MCPClient) string {
	t.Helper()
	return c.MustCall(t, "list_suggestions", "limit", 1000)
}

// A client that cannot ask may delete once the model says that the person agrees;
// that is no way past a person who can be asked, and none past deny.
func TestMCPApprovalConfirm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, approve string
		answer        map[string]any
		deleted       bool
	}{
		{"cannot ask", "ask", nil, true},
		{"says no", "ask", saysNo, false},
		{"deny", "deny", nil, false},
	} {
		for _, call := range changingCalls {
			if call.kind != "delete" {
				continue
			}
			t.Run(tt.name+" "+call.tool, func(t *testing.T) {
				s := harness.NewSandbox(t)
				vault := s.Vault(t, "Vault", approveVault())
				c := s.MCPAnswering(t, tt.answer, "--mode", "direct", "--structure", "direct", "--toolsets", allToolsets, "--approve", tt.approve, vault)
				got := c.Call(t, call.tool, append(slices.Clone(call.args), "confirm", true)...)
				_, there := vaultState(t, vault)[call.file]
				if got.IsError == tt.deleted || there == tt.deleted {
					t.Errorf("error %v, still there %v: %s", got.IsError, there, got.Text)
				}
			})
		}
	}
}

// Nobody is asked about what cannot be done.
func TestMCPApprovalOfTheImpossible(t *testing.T) {
	t.Parallel()
	move := []any{"move", "file_path", "Vault/note.md", "new_path", "Vault/moved.md"}
	remove := []any{"delete", "file_path", "Vault/note.md"}
	edit := []any{"edit", "file_path", "Vault/note.md", "old_string", "One", "new_string", "Two"}
	write := []any{"write", "file_path", "Vault/new.md", "content", "New.\n"}
	for name, tt := range map[string]struct {
		flags []string
		calls [][]any
	}{
		"names stay":    {[]string{"--structure", "deny"}, [][]any{move, remove}},
		"view original": {[]string{"--view", "original"}, [][]any{edit, write}},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"note.md": "One\n"})
			c := s.MCPAnswering(t, saysYes, append(tt.flags, "--mode", "direct", "--approve", "ask", vault)...)
			c.MustCall(t, "read", "file_path", "Vault/note.md")
			for _, call := range tt.calls {
				got := c.Call(t, call[0].(string), call[1:]...)
				if !got.IsError || len(c.Questions) > 0 {
					t.Errorf("%v: error %v, asked %q: %s", call, got.IsError, c.Questions, got.Text)
				}
				c.Questions = nil
			}
		})
	}
}

// An answer is good for the change that the person was asked about: when other text would go by now, the person
// is asked again.
func TestMCPApprovalIsOfWhatWasAsked(t *testing.T) {
	t.Parallel()
	const other = "One line.\nA person's new line.\n"
	for _, tt := range []struct {
		name  string
		call  []any
		asked []string // a part of each question
	}{
		{"the note is another", []any{"delete", "file_path", "Vault/note.md"}, []string{"2 words", "6 words"}},
		{"the rest of the note is another", []any{"edit", "file_path", "Vault/note.md", "old_string", "One", "new_string", "Two"}, []string{"deletes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"note.md": "One line.\n"})
			c := s.MCPAnswering(t, saysYes, "--mode", "direct", "--structure", "direct", "--approve", "ask", vault)
			c.MustCall(t, "read", "file_path", "Vault/note.md")
			c.Thinking = func() {
				if len(c.Questions) == 1 {
					harness.WriteFile(t, filepath.Join(vault, "note.md"), other)
					harness.WaitFor(t, "the save is seen", func() bool { return s.Run(t, "cat", "Vault/note.md").Stdout == other })
				}
			}
			if got := c.Call(t, tt.call[0].(string), tt.call[1:]...); got.IsError {
				t.Fatal(got.Text)
			}
			if len(c.Questions) != len(tt.asked) {
				t.Fatalf("asked %q, want %d questions", c.Questions, len(tt.asked))
			}
			for i, part := range tt.asked {
				if !strings.Contains(c.Questions[i], part) {
					t.Errorf("question %d is %q, want %q in it", i+1, c.Questions[i], part)
				}
			}
		})
	}
}

// A person's own commands are not asked about.
func TestApprovalIsNotForCommands(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": approveNote})
	s.Mount(t, vault, "--approve", "deny")
	if out := s.Run(t, "edit", "Vault/note.md", "--old", "One", "--new", "Two", "--source", vault); out.Code != 0 {
		t.Errorf("edit: %+v", out)
	}
}

// The journal has what a person was asked and what they answered; an agent is told whether they declined or only
// closed the question.
func TestMCPApprovalsAreJournalled(t *testing.T) {
	t.Parallel()
	always := map[string]any{"action": "accept", "content": map[string]any{"approve": true, "remember": true}}
	for _, tt := range []struct {
		answer map[string]any
		says   string // to the agent
		log    string
	}{
		{saysNo, "declined to", "asked, and the user declined  "},
		{map[string]any{"action": "cancel"}, "dismissed the request", "asked, and the user cancelled  "},
		{saysYes, "", "asked, and the user allowed  "},
		{always, "", "asked, and the user allowed for the session  "},
	} {
		t.Run(strings.TrimSpace(tt.log), func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"a.md": "One line.\n", "b.md": "Two lines.\n"})
			c := s.MCPAnswering(t, tt.answer, "--approve", "ask", "--toolsets", "claude", vault)
			for _, name := range []string{"Vault/a.md", "Vault/b.md"} {
				if got := c.Call(t, "delete", "file_path", name); got.IsError != (tt.says != "") || !strings.Contains(got.Text, tt.says) {
					t.Errorf("%s: error %v, %s", name, got.IsError, got.Text)
				}
			}
			c.Close(t)
			out := s.Run(t, "suggestions", "log", vault)
			asked := 2
			if tt.log == "asked, and the user allowed for the session  " {
				asked = 1
			}
			if n := strings.Count(out.Stdout, tt.log); n != asked || !strings.Contains(out.Stdout, `delete the note Vault/a.md. It deletes 2 words: "One line."`) {
				t.Errorf("%d questions in the log, want %d:\n%s%s", n, asked, out.Stdout, out.Stderr)
			}
		})
	}
}
