package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// maxAnswer is how long an answer of a tool may be, as JSON.
const maxAnswer = 40_000

var nextCursor = regexp.MustCompile(`next_cursor: "([^"]+)"`)

// cursorOf is where the answer of a list or a search goes on; "" at its end.
func cursorOf(t *testing.T, r harness.ToolResult) string {
	t.Helper()
	if r.Structured != nil {
		var s struct {
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(r.Structured, &s); err != nil {
			t.Fatal(err)
		}
		return s.NextCursor
	}
	if m := nextCursor.FindStringSubmatch(r.Text); m != nil {
		return m[1]
	}
	return ""
}

// follow returns all answers to a call. between is called between two of them, if
// it is set.
func follow(t *testing.T, c *harness.MCPClient, tool string, args []any, between func(page int)) []harness.ToolResult {
	t.Helper()
	var pages []harness.ToolResult
	for cursor := ""; ; {
		call := args
		if cursor != "" {
			call = append(slices.Clone(args), "cursor", cursor)
		}
		page := c.Call(t, tool, call...)
		if page.IsError {
			t.Fatalf("%s %v: %s", tool, call, page.Text)
		}
		if page.Size > maxAnswer {
			t.Errorf("%s %v: an answer of %d characters", tool, args, page.Size)
		}
		pages = append(pages, page)
		if cursor = cursorOf(t, page); cursor == "" {
			return pages
		}
		if len(pages) > 2000 {
			t.Fatalf("%s %v: more than 2000 pages", tool, args)
		}
		if between != nil {
			between(len(pages))
		}
	}
}

const bigVaultNotes = 800

// bigVault is a vault with more of everything than fits into an answer.
func bigVault() map[string]string {
	files := make(map[string]string)
	var hub strings.Builder
	for i := range bigVaultNotes {
		name := fmt.Sprintf("d%02d/Note %04d.md", i%23, i)
		fmt.Fprintf(&hub, "- [[Note %04d]] <b>&</b> [[Missing %04d]]\n", i, i)
		var b strings.Builder
		fmt.Fprintf(&b, "---\nstatus: open\nn: %d\nsummary: %q\n---\n# Note %04d\n\nSee [[Hub]].\n", i, strings.Repeat("日本 \\ ", i%40), i)
		fmt.Fprintf(&b, "A needle <in> \"hay\".\nplain\nplain\nplain\nAnother needle, 🍏.\n")
		switch i % 10 {
		case 0:
			b.WriteString(strings.Repeat("long \"words\" ", 900) + "needle\n")
		case 1:
			b.WriteString(strings.Repeat("needle\r\n", 30))
		case 2:
			fmt.Fprintf(&b, "Old text {++with an addition %d++}.\n", i)
		}
		files[name] = b.String()
	}
	files["Hub.md"] = hub.String()
	files["Front.md"] = "---\nstatus: open\nlong: " + strings.Repeat("x", 50_000) + "\n---\ntext\n"
	var canvas strings.Builder
	canvas.WriteString("{\"nodes\":[\n")
	for i := range 2000 {
		fmt.Fprintf(&canvas, "{\"id\":\"%d\",\"type\":\"text\",\"text\":\"needle\",\"x\":0,\"y\":0,\"width\":1,\"height\":1},\n", i)
	}
	files["Board.canvas"] = strings.TrimSuffix(canvas.String(), ",\n") + "\n],\"edges\":[]}\n"
	return files
}

// items are what the pages of a call list, by how each item looks.
func items(pages []harness.ToolResult, pattern string) []string {
	var all []string
	for _, page := range pages {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page.Text, -1) {
			all = append(all, strings.Join(m[1:], ":"))
		}
	}
	return all
}

// checkOnce expects each of want exactly once in got.
func checkOnce(t *testing.T, what string, got []string, want map[string]bool) {
	t.Helper()
	seen := make(map[string]int)
	for _, item := range got {
		seen[item]++
	}
	wrong := 0
	for item := range maps.Keys(want) {
		if seen[item] != 1 {
			if wrong++; wrong <= 3 {
				t.Errorf("%s lists %q %d times", what, item, seen[item])
			}
		}
		delete(seen, item)
	}
	if wrong > 3 {
		t.Errorf("%s: %d items are not listed once", what, wrong)
	}
	if len(seen) > 0 {
		t.Errorf("%s lists %d items that are not there, like %q", what, len(seen), slices.Sorted(maps.Keys(seen))[0])
	}
}

// Who follows the cursors of a list or a search is shown each item once and all of
// them, and no answer is longer than what clients show.
func TestMCPCursors(t *testing.T) {
	t.Parallel()
	need.Full(t, "it takes long")
	s := harness.NewSandbox(t)
	files := bigVault()
	vault := s.Vault(t, "Vault", files)
	c := s.MCP(t, "--toolsets", "claude,notes,content", vault)

	notes, matches, canvas, open, linked, missing, added := make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for name, text := range files {
		path := "Vault/" + name
		if strings.HasSuffix(name, ".canvas") {
			for i, line := range strings.Split(text, "\n") {
				if strings.Contains(line, "needle") {
					canvas[fmt.Sprintf("%s:%d", path, i+1)] = true
				}
			}
			continue
		}
		notes[path] = true
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "needle") {
				matches[fmt.Sprintf("%s:%d", path, i+1)] = true
			}
		}
		if strings.Contains(text, "status: open") {
			open[path] = true
		}
		if strings.Contains(text, "[[Hub]]") {
			linked[path] = true
		}
		if strings.Contains(text, "{++") {
			added[path] = true
		}
	}
	with := func(set map[string]bool, more ...string) map[string]bool {
		set = maps.Clone(set)
		for _, m := range more {
			set[m] = true
		}
		return set
	}
	for i := range bigVaultNotes {
		missing[fmt.Sprintf("Missing %04d", i)] = true
	}
	needles := make(map[string]bool)
	for m := range matches {
		needles[m[:strings.LastIndexByte(m, ':')]] = true
	}
	everywhere := maps.Clone(matches) // in other files, too
	maps.Copy(everywhere, canvas)
	const inJSON = `"path":"([^"]*)","line_number":(\d+)`
	for _, tt := range []struct {
		tool    string
		args    []any
		pattern string
		want    map[string]bool
	}{
		{"glob", []any{"pattern", "**"}, `(?m)^(Vault/.*)$`, with(notes, "Vault/Board.canvas")},
		{"grep", []any{"pattern", "needle"}, `(?m)^(Vault/.*)$`, with(needles, "Vault/Board.canvas")},
		{"grep", []any{"pattern", "needle", "head_limit", 0}, `(?m)^(Vault/.*)$`, with(needles, "Vault/Board.canvas")},
		{"grep", []any{"pattern", "needle", "output_mode", "count", "head_limit", 77}, `(?m)^(Vault/.*):\d+$`, with(needles, "Vault/Board.canvas")},
		{"grep", []any{"pattern", "needle", "output_mode", "content", "head_limit", 0}, `(?m)^(Vault/.*\.md):(\d+):`, matches},
		{"grep", []any{"pattern", "needle", "output_mode", "content", "-C", 1, "head_limit", 101}, `(?m)^(Vault/.*\.md):(\d+):`, matches},
		{"list_notes", nil, `"path":"([^"]*)"`, notes},
		{"list_notes", []any{"include_frontmatter", true}, `"path":"([^"]*)"`, notes},
		{"text_search", []any{"query", "needle", "limit", 1000}, inJSON, everywhere},
		{"text_search", []any{"query", "regex:nee?dle", "limit", 50}, inJSON, everywhere},
		{"property_search", []any{"properties", map[string]any{"status": "open"}, "limit", 100}, `"path":"([^"]*)"`, open},
		{"search_content", []any{"pattern", "needle", "entity_type", "note", "max_results", 1000}, inJSON, matches},
		{"search_content", []any{"pattern", "needle", "entity_type", "canvas", "context_lines", 0, "max_results", 100}, inJSON, canvas},
		{"list_suggestions", nil, `(?m)^(Vault/.*):\d+: `, added},
		{"list_suggestions", []any{"limit", 10}, `(?m)^(Vault/.*):\d+: `, added},
		{"get_links", []any{"file_path", "Vault/Hub.md"}, `(?m)^- (Missing .*)$`, missing},
	} {
		t.Run(fmt.Sprint(tt.tool, tt.args), func(t *testing.T) {
			pages := follow(t, c, tt.tool, tt.args, nil)
			checkOnce(t, tt.tool, items(pages, tt.pattern), tt.want)
		})
	}
	t.Run("get_links, each section", func(t *testing.T) {
		pages := follow(t, c, "get_links", []any{"file_path", "Vault/Hub.md"}, nil)
		if got := items(pages, `(?m)^- (Vault/.*)$`); len(got) != 2*len(linked) {
			t.Errorf("%d links, want %d", len(got), 2*len(linked))
		}
	})
	t.Run("semantic_search", func(t *testing.T) {
		pages := follow(t, c, "semantic_search", []any{"query", "needle in hay", "limit", 100}, nil)
		got := items(pages, `"path":"([^"]*)"`)
		// The ranks of the best hundred by words and by meaning are fused.
		if slices.Sort(got); len(got) < 100 || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%d notes, or some of them twice", len(got))
		}
	})
	t.Run("resources", func(t *testing.T) {
		var got []string
		for params := map[string]any{}; ; {
			raw := c.Request(t, "resources/list", params)
			var page struct {
				Resources  []struct{ Name string }
				NextCursor string
			}
			if err := json.Unmarshal(raw, &page); err != nil {
				t.Fatal(err)
			}
			if len(raw) > maxAnswer {
				t.Errorf("a list of %d characters", len(raw))
			}
			for _, r := range page.Resources {
				got = append(got, r.Name)
			}
			if page.NextCursor == "" {
				break
			}
			params["cursor"] = page.NextCursor
		}
		checkOnce(t, "resources/list", got, notes)
	})
}

// What comes and goes while a client follows a cursor neither hides what stays nor
// shows it twice.
func TestMCPCursorsWhileNotesChange(t *testing.T) {
	t.Parallel()
	need.Full(t, "it takes long")
	for _, tt := range []struct {
		tool    string
		args    []any
		pattern string
	}{
		{"grep", []any{"pattern", "keep"}, `(?m)^Vault/(stay .*)\.md$`},
		{"grep", []any{"pattern", "keep", "output_mode", "content"}, `(?m)^Vault/(stay .*)\.md:\d+:`},
		{"list_notes", nil, `"path":"Vault/(stay .*?)\.md"`},
		{"text_search", []any{"query", "keep", "limit", 100}, `"path":"Vault/(stay .*?)\.md"`},
		{"property_search", []any{"properties", map[string]any{"k": 1}, "limit", 100}, `"path":"Vault/(stay .*?)\.md"`},
		{"search_content", []any{"pattern", "keep", "entity_type", "note", "max_results", 60}, `"path":"Vault/(stay .*?)\.md"`},
		{"glob", []any{"pattern", "*.md"}, `(?m)^Vault/(stay .*)\.md$`},
		{"list_suggestions", nil, `(?m)^Vault/(stay .*)\.md:`},
	} {
		t.Run(fmt.Sprint(tt.tool, tt.args), func(t *testing.T) {
			s := harness.NewSandbox(t)
			files, want := make(map[string]string), make(map[string]bool)
			for i := range 600 {
				files[fmt.Sprintf("go %04d.md", i)] = "---\nk: 1\n---\nkeep {++x++}\n"
				files[fmt.Sprintf("stay %04d.md", i)] = "---\nk: 1\n---\nkeep {++x++}\n"
				want[fmt.Sprintf("stay %04d", i)] = true
			}
			vault := s.Vault(t, "Vault", files)
			c := s.MCP(t, "--toolsets", "claude,notes,content", "--structure", "direct", vault)
			pages := follow(t, c, tt.tool, tt.args, func(page int) {
				for i := range 20 {
					c.Call(t, "delete", "file_path", fmt.Sprintf("Vault/go %04d.md", 20*(page-1)+i))
				}
				if page < 5 {
					c.MustCall(t, "write", "file_path", fmt.Sprintf("Vault/a new %d.md", page), "content", "keep\n")
					c.MustCall(t, "write", "file_path", fmt.Sprintf("Vault/z new %d.md", page), "content", "keep\n")
				}
			})
			checkOnce(t, tt.tool, items(pages, tt.pattern), want)
		})
	}
}

// A text that changes on one side of the place to which a search has come moves
// nothing on the other side into or out of what follows.
func TestMCPCursorInAChangingNote(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"grep", "text_search", "search_content"} {
		t.Run(tool, func(t *testing.T) {
			s := harness.NewSandbox(t)
			var text strings.Builder
			want := make(map[string]bool)
			for i := range 300 {
				fmt.Fprintf(&text, "item %04d\n", i)
				want[fmt.Sprintf("%04d", i)] = true
			}
			vault := s.Vault(t, "Vault", map[string]string{"note.md": text.String()})
			c := s.MCP(t, "--toolsets", "claude,notes,content", vault)
			args := map[string][]any{
				"grep":           {"pattern", "item", "output_mode", "content", "head_limit", 40},
				"text_search":    {"query", "item", "limit", 40},
				"search_content": {"pattern", "item", "entity_type", "note", "max_results", 40, "context_lines", 0},
			}[tool]
			pattern := map[string]string{"grep": `:item (\d{4})`, "text_search": `"line_content":"item (\d{4})"`, "search_content": `"match":"item (\d{4})"`}[tool]
			now := text.String()
			pages := follow(t, c, tool, args, func(page int) {
				if page%2 == 0 {
					now = "a line\nand one more\n" + now
				} else {
					now += "the end\n"
				}
				harness.WriteFile(t, filepath.Join(vault, "note.md"), now)
				waitForLines(t, c, "Vault/note.md", strings.Count(now, "\n"))
			})
			checkOnce(t, tool, items(pages, pattern), want)
		})
	}
}

// waitForLines waits until a note is shown with so many lines.
func waitForLines(t *testing.T, c *harness.MCPClient, path string, lines int) {
	t.Helper()
	want := fmt.Sprintf(`"total_lines":%d,`, lines)
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got := c.MustCall(t, "read_note", "path", path, "start_line", 1, "end_line", 1); !strings.Contains(got, want) {
			return fmt.Errorf("read_note says %s, want %s", got, want)
		}
		return nil
	})
}

// A cursor that is mistyped, of another tool or of another search is refused, and
// nothing is listed by it.
func TestMCPCursorIsRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range 300 {
		files[fmt.Sprintf("note %03d.md", i)] = "word\n"
	}
	c := s.MCP(t, "--toolsets", "claude,notes,content", s.Vault(t, "Vault", files))
	cursor := cursorOf(t, c.Call(t, "grep", "pattern", "word", "head_limit", 5))
	if cursor == "" {
		t.Fatal("grep gives no cursor")
	}
	for _, tt := range []struct {
		name, tool string
		args       []any
	}{
		{"mistyped", "grep", []any{"pattern", "word", "cursor", cursor[:len(cursor)-3] + "AAA"}},
		{"cut", "grep", []any{"pattern", "word", "cursor", cursor[:10]}},
		{"none", "grep", []any{"pattern", "word", "cursor", "../../etc\x00"}},
		{"other search", "grep", []any{"pattern", "words", "cursor", cursor}},
		{"other tool", "list_notes", []any{"cursor", cursor}},
		{"other tool", "text_search", []any{"query", "word", "cursor", cursor}},
		{"other tool", "glob", []any{"pattern", "*", "cursor", cursor}},
		{"other tool", "get_links", []any{"file_path", "Vault/note 000.md", "cursor", cursor}},
		{"other tool", "list_suggestions", []any{"cursor", cursor}},
		{"other tool", "property_search", []any{"properties", map[string]any{"a": 1}, "cursor", cursor}},
		{"other tool", "semantic_search", []any{"query", "word", "cursor", cursor}},
		{"other tool", "search_content", []any{"pattern", "word", "entity_type", "note", "cursor", cursor}},
		{"other tool", "search", []any{"query", "word", "cursor", cursor}},
		{"other tool", "get_kiln_info", []any{"cursor", cursor}},
	} {
		got := c.Call(t, tt.tool, tt.args...)
		if !got.IsError || !strings.Contains(got.Text, `"cursor"`) || !strings.Contains(got.Text, tt.tool) || len(got.Text) > 500 {
			t.Errorf("%s: %s %v: %+v", tt.name, tt.tool, tt.args, got)
		}
	}
}

// No answer is longer than what clients show, whatever is asked for; tools that
// may be long say so to Claude Code, and every list takes a cursor.
func TestMCPAnswersAreBounded(t *testing.T) {
	t.Parallel()
	need.Full(t, "it takes long")
	s := harness.NewSandbox(t)
	wide := strings.Repeat("\x01<&\"\\", 100_000)
	files := map[string]string{
		"titled.md": "# needle " + strings.Repeat("long\x01", 50_000) + "\n", "wide.md": wide + "\n" + strings.Repeat("needle "+wide[:5000]+"\n", 50), "Front.md": "---\na: needle\nlong: \"" + strings.Repeat("日本", 30_000) + "\"\n---\n",
		"emoji.md": strings.Repeat("👩‍👩‍👧‍👦", 10_000), "zalgo.md": "z" + strings.Repeat("\u0301", 100_000), "big.canvas": `{"nodes":[],"edges":[],"x":"` + strings.Repeat("needle <", 50_000) + `"}`,
		"big.base": "a: needle " + strings.Repeat("<b>", 50_000) + "\n", "comments.md": strings.Repeat("x {>>"+strings.Repeat("why ", 200)+"<<} {--"+strings.Repeat("old ", 500)+"--}{++"+strings.Repeat("new ", 500)+"++}\n\n", 60),
		"many.md": strings.Repeat("same\n", 20_000), "tasks.md": strings.Repeat("# Part\n- [ ] "+strings.Repeat("to do <", 20)+" [[none]]\n", 2000),
	}
	vault := s.Vault(t, "Vault", files)
	c := s.MCP(t, "--toolsets", "claude,notes,content", vault)
	long := strings.Repeat("<x", 60_000)
	for _, call := range [][]any{
		{"read", "file_path", "Vault/wide.md"}, {"read", "file_path", "Vault/zalgo.md"}, {"read", "file_path", "Vault/emoji.md"}, {"read", "file_path", "Vault/comments.md"}, {"read", "file_path", "Vault/many.md", "limit", 100_000},
		{"read_note", "path", "Vault/wide.md"}, {"read_note", "path", "Vault/zalgo.md"}, {"read_note", "path", "Vault/many.md"}, {"read_note", "path", "Vault/comments.md"},
		{"read_content_lines", "entity_type", "note", "path", "Vault/many.md", "end_line", 20_000}, {"read_content_lines", "entity_type", "canvas", "path", "Vault/big.canvas"},
		{"get_content", "entity_type", "canvas", "path", "Vault/big.canvas"}, {"get_content", "entity_type", "base", "path", "Vault/big.base"}, {"get_content", "entity_type", "note", "path", "Vault/wide.md"},
		{"read_metadata", "path", "Vault/Front.md"}, {"list_notes", "include_frontmatter", true}, {"property_search", "properties", map[string]any{"a": "needle"}},
		{"grep", "pattern", "needle", "output_mode", "content", "head_limit", 0}, {"grep", "pattern", "same", "output_mode", "content", "-o", true, "head_limit", 0, "multiline", true}, {"grep", "pattern", "needle", "output_mode", "content", "-C", 1000},
		{"text_search", "query", "needle", "limit", 100_000}, {"search_content", "pattern", "same", "entity_type", "note", "context_lines", 100_000, "max_results", 100_000}, {"search_content", "pattern", "needle", "entity_type", "base"},
		{"semantic_search", "query", "needle"}, {"search", "query", "needle why same", "limit", 100_000}, {"list_suggestions", "limit", 100_000}, {"get_links", "file_path", "Vault/wide.md"}, {"get_kiln_info", "detailed", true},
		{"patch_content", "entity_type", "note", "path", "Vault/many.md", "old_string", "same", "new_string", "x"}, {"patch_content", "entity_type", "note", "path", "Vault/wide.md", "old_string", "needle", "new_string", "x"},
		{"read", "file_paths", []string{"Vault/wide.md", "Vault/comments.md", "Vault/many.md", "Vault/emoji.md"}}, {"outline", "path", "Vault/tasks.md"}, {"outline", "path", "Vault/wide.md"}, {"outline", "path", "Vault/Front.md"}, {"tasks"},
		{"edit", "edits", slices.Repeat([]any{map[string]any{"file_path": "Vault/many.md", "old_string": "same", "new_string": "other"}}, 500)},
		{"move", "moves", slices.Repeat([]any{map[string]any{"file_path": "Vault/many.md", "new_path": "Vault/" + strings.Repeat("x", 300) + ".md"}}, 500)},
		{"set_properties", "notes", slices.Repeat([]any{map[string]any{"path": "Vault/Front.md"}}, 100), "set", map[string]any{"long": 1}}, {"read", "file_path", "Vault/tasks.md", "section", long}, {"tasks", "toggle", []string{long}},
		// What a call holds itself is not said again at any length.
		{"grep", "pattern", "(" + long}, {"text_search", "query", long}, {"text_search", "query", "regex:(" + long}, {"property_search", "properties", map[string]any{"k": long}}, {"semantic_search", "query", long}, {"search", "query", long}, {"search", "query", "x", "since", long}, {"search", "query", "x", "author", long}, {"search", "query", "x", "tag", long}, {"search", "query", "x", "path", long},
		{"read", "file_path", "Vault/" + long + ".md"}, {"read", long, 1}, {"glob", "pattern", "[" + long}, {"list_suggestions", "id", long}, {"grep", "pattern", "x", "type", long}, {"grep", "pattern", "x", "output_mode", long},
		{"search_content", "pattern", "[" + long, "entity_type", "note"}, {"search_content", "pattern", "x", "entity_type", long}, {"create_note", "path", "Nowhere/" + long[:100] + "/" + long[:100] + ".md", "content", "x"},
		{"edit", "file_path", "Vault/many.md", "old_string", long, "new_string", "x"}, {"comment", "file_path", "Vault/many.md", "anchor_text", long, "comment", "x"}, {"grep", "pattern", "x", "cursor", long},
	} {
		got := c.Call(t, call[0].(string), call[1:]...)
		if got.Size > maxAnswer || got.Text == "" {
			t.Errorf("%v: an answer of %d characters", fmt.Sprint(call[:min(4, len(call))])[:60], got.Size)
		}
	}
	for _, file := range []string{"wide.md", "many.md", "zalgo.md"} {
		if raw := c.Request(t, "resources/read", map[string]any{"uri": "note:///Vault/" + file}); len(raw) > maxAnswer {
			t.Errorf("the resource %s: %d characters", file, len(raw))
		}
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]any }
			Annotations struct{ ReadOnlyHint bool }
			Meta        map[string]any `json:"_meta"`
		}
	}
	if err := json.Unmarshal(c.Request(t, "tools/list", map[string]any{}), &list); err != nil {
		t.Fatal(err)
	}
	// These are about one document, or about the vaults that the command line names.
	one := []string{"read", "read_note", "read_metadata", "read_content_lines", "get_content", "outline", "get_kiln_info"}
	for _, tool := range list.Tools {
		if got := tool.Meta["anthropic/maxResultSizeChars"]; got != 300_000.0 {
			t.Errorf("%s: anthropic/maxResultSizeChars is %v, want %v", tool.Name, got, 300_000.0)
		}
		if _, ok := tool.InputSchema.Properties["cursor"]; !ok && tool.Annotations.ReadOnlyHint && !slices.Contains(one, tool.Name) {
			t.Errorf("%s takes no cursor", tool.Name)
		}
	}
}

// What a list shows of a suggestion, of a person's reason or of a line is marked
// where it is cut, and can be had as a whole.
func TestMCPPreviewsSayThatTheyAreCut(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	old := strings.TrimSpace(strings.Repeat("some old words that stood here ", 3000))
	line := strings.Repeat("plain words ", 2000) + "needle" + strings.Repeat(" and more", 2000)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "x {--" + old + "--} y\n\n" + line + "\n"})
	c := s.MCP(t, "--toolsets", "claude,notes,content", vault)

	list := c.MustCall(t, "list_suggestions")
	id := regexp.MustCompile(`\[([0-9a-f]{10})\]`).FindStringSubmatch(list)
	if !strings.Contains(list, "[...]") || id == nil {
		t.Fatalf("list_suggestions says %q", list)
	}
	var whole strings.Builder
	for _, page := range follow(t, c, "list_suggestions", []any{"id", id[1]}, nil) {
		text, _, _ := strings.Cut(page.Text, "\n[Showing")
		whole.WriteString(text)
	}
	if !strings.Contains(whole.String(), "{--"+old+"--}") {
		t.Errorf("the suggestion as a whole has %d bytes", whole.Len())
	}
	for _, call := range [][]any{
		{"text_search", "query", "needle"}, {"search_content", "pattern", "needle", "entity_type", "note"},
	} {
		got := c.MustCall(t, call[0].(string), call[1:]...)
		if !strings.Contains(got, "needle and more") || !strings.Contains(got, "[line cut: characters ") {
			t.Errorf("%v: %.300q", call, got)
		}
	}
	if got := c.MustCall(t, "grep", "pattern", "needle", "output_mode", "content"); !strings.Contains(got, "[line cut, ") || !strings.Contains(got, "column") {
		t.Errorf("grep: %q", got[max(0, len(got)-300):])
	}
	if err := os.WriteFile(filepath.Join(vault, "front.md"), []byte("---\na: 1\nlong: "+strings.Repeat("y", 60_000)+"\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got := c.Call(t, "read_metadata", "path", "Vault/front.md"); !strings.Contains(got.Text, `"a":1`) || !strings.Contains(got.Text, "1 property left out") {
			return fmt.Errorf("read_metadata says %.300q", got.Text)
		}
		return nil
	})
}
