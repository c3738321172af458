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
		"Work.base":            "filters:\n  and:\n    - file.inFolder(\"Projects\")\n    - file.ext == \"md\"\nformulas:\n  left: 'due - \"1w\"'\nviews:\n  - type: table\n    name: Open\n    filters: 'status == \"open\"'\n    order: [file.basename, priority, formula.left]\n    sort: [{property: priority, direction: DESC}]\n  - type: cards\n    name: All\n    limit: 2\n",
		"Strange.base":         "filters: 'file.ctime > now()'\n",
		"Files.base":           "filters: 'file.ext == \"png\"'\n",
		"image.png":            "\x89PNG",
		"Elsewhere/Private.md": "no properties\n",
	}
}

// asked is the answer of query, list_notes, property_search and find_links.
type asked struct {
	Rows []struct {
		Path   string
		Values json.RawMessage
	}
	Notes, Matches, Found []struct {
		Path, Text string
		Line       int
	}
	Count      int
	NextCursor string `json:"next_cursor"`
}

func (a asked) lines() (lines []string) {
	for _, r := range a.Rows {
		lines = append(lines, strings.TrimPrefix(r.Path, "Vault/")+" "+string(r.Values))
	}
	for _, n := range slices.Concat(a.Notes, a.Matches) {
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
		{"list_notes", []any{"where", `status != "done" && priority >= 3`}, []string{"Projects/Garden.md", "Projects/Pond.md"}},
		{"list_notes", []any{"where", `due.isEmpty()`, "folder", "Vault/Projects"}, []string{"Projects/Garden.md"}},
		{"query", []any{"where", `due < date("2026-02-15")`, "fields", []string{"status", "due"}}, []string{`Projects/Pond.md {"status":"open","due":"2026-01-31"}`}},
		{"query", []any{"where", `file.hasTag("work") || file.hasLink("Pond")`, "sort", []string{"-priority"}}, []string{
			`Projects/Garden.md {"file.name":"Garden.md"}`, `Projects/Pond.md {"file.name":"Pond.md"}`, `Projects/Fence.md {"file.name":"Fence.md"}`, `Orphan.md {"file.name":"Orphan.md"}`,
		}},
		{"query", []any{"where", `file.backlinks.contains("Index")`, "fields", []string{"priority"}}, []string{`Index.md {"priority":null}`, `Projects/Fence.md {"priority":1}`, `Projects/Garden.md {"priority":10}`}},
		{"query", []any{"base", "Vault/Work.base"}, []string{`Projects/Garden.md {"file.basename":"Garden","priority":10,"formula.left":null}`, `Projects/Pond.md {"file.basename":"Pond","priority":3,"formula.left":"2026-01-24"}`}},
		{"query", []any{"base", "Vault/Work.base", "view", "all"}, []string{`Projects/Fence.md {"file.name":"Fence.md"}`, `Projects/Garden.md {"file.name":"Garden.md"}`}},
		{"query", []any{"base", "Vault/Files.base"}, []string{`image.png {"file.name":"image.png"}`}},
		{"find_links", []any{"kind", "orphans"}, []string{"Elsewhere/Private.md:0: ", "Index.md:0: ", "Orphan.md:0: "}},
		{"find_links", []any{"kind", "orphans", "where", `file.hasLink("Pond")`}, []string{"Orphan.md:0: "}},
		{"find_links", []any{"kind", "backlinks", "path", "Vault/Projects/Pond.md", "where", `status == "done"`}, []string{"Projects/Fence.md:6: Mend it, see [[Pond]]."}},
		{"property_search", []any{"properties", map[string]any{"status": "open"}, "where", `priority > 3`}, []string{"Projects/Garden.md"}},
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
	if got := c.MustCall(t, "search", "query", "pond", "where", `status == "done"`); !strings.Contains(got, "Fence.md") || strings.Contains(got, "Garden.md") {
		t.Errorf("search: got %s, want Fence.md alone", got)
	}
	for want, args := range map[string][]any{
		"`file.ctime > now()`, column 6: file.ctime is not supported; those that are:": {"base", "Vault/Strange.base"},
		`The base has no view "Closed". Its views are "Open", "All".`:                  {"base", "Vault/Work.base", "view", "Closed"},
		"the expression `status = 1`, column 8":                                        {"where", "status = 1"},
		"whose name does not end in .base":                                             {"base", "Vault/Index.md"},
		"There is no question":                                                         {},
	} {
		if got := c.Call(t, "query", args...); !got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("query %v: got %s, want %q", args, got.Text, want)
		}
	}
	// A line that was shown may be edited.
	c.MustCall(t, "edit", "file_path", "Vault/Projects/Garden.md", "old_string", "the pond need care", "new_string", "the [[Pond|pond]] need care")
}

// All rows come, each once, however many a page has, in the order of the question.
func TestMCPQueryPages(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	var want []string
	for i := range 300 {
		files[fmt.Sprintf("Note %03d.md", i)] = fmt.Sprintf("---\nn: %d\nlong: %s\n---\n", (i*7)%300, strings.Repeat("x", 400))
		want = append(want, fmt.Sprintf(`Note %03d.md {"n":%d}`, (i*43)%300, i))
	}
	s := harness.NewSandbox(t)
	c := s.MCP(t, "--toolsets", "notes", s.Vault(t, "Vault", files))
	for _, fields := range [][]string{{"n"}, {"n", "long"}} {
		for _, limit := range []int{1000, 100, 7} {
			var got []string
			args := []any{"where", "n >= 0", "sort", []string{"n"}, "fields", fields, "limit", limit}
			for page := ask(t, c, "query", args...); ; page = ask(t, c, "query", append(args, "cursor", page.NextCursor)...) {
				if page.Count != 300 || len(page.Rows) > limit {
					t.Fatalf("count %d and %d rows, want 300 and at most %d", page.Count, len(page.Rows), limit)
				}
				for _, line := range page.lines() {
					name, n, _ := strings.Cut(line, `,"long"`)
					if n != "" {
						name += "}"
					}
					got = append(got, name)
				}
				if page.NextCursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d: got %d rows, want 300 in their order: %.500q", limit, len(got), got)
			}
		}
	}
}
