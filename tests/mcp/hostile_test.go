package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const allToolsets = "claude,notes,content,vault"

// listedTool is a tool as clients see it.
type listedTool struct {
	Name         string
	InputSchema  inputSchema
	OutputSchema json.RawMessage
	Annotations  struct{ ReadOnlyHint bool }
}

type inputSchema struct {
	Type       string
	Properties map[string]inputSchema
	Required   []string
	Items      *inputSchema
	Enum       []string
	Minimum    *int
}

func listTools(t *testing.T, c *harness.MCPClient) []listedTool {
	t.Helper()
	var list struct{ Tools []listedTool }
	if err := json.Unmarshal(c.Request(t, "tools/list", map[string]any{}), &list); err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// outputs are the compiled output schemas of tools.
type outputs map[string]*jsonschema.Schema

func outputSchemas(t *testing.T, tools []listedTool) outputs {
	t.Helper()
	schemas := make(outputs)
	for _, tool := range tools {
		if tool.OutputSchema == nil {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.OutputSchema))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("tool.json", doc); err != nil {
			t.Fatal(err)
		}
		if schemas[tool.Name], err = compiler.Compile("tool.json"); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	return schemas
}

// check returns what is wrong with the structured result of a tool, "" if nothing is.
func (o outputs) check(tool string, structured json.RawMessage) string {
	schema := o[tool]
	switch {
	case schema == nil && structured == nil:
		return ""
	case schema == nil:
		return "structured content without an output schema"
	case structured == nil:
		return "no structured content"
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(structured))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// goText is what only the program's own errors say, in the words of Go and of the system.
var goText = regexp.MustCompile(`json: |strconv\.|unmarshal|panic|goroutine|runtime error|no such file|not a directory|%!|<nil>|reflect|interface \{|\bEOF\b|syntax error|/tmp/|tool: |The server could not|yaml: `)

// caller makes random calls.
type caller struct {
	*rand.Rand
	files   []string
	cursors []string // that answers gave
	ids     []string
}

var (
	hostileStrings = []string{
		"", " ", "\x00", "..", "../../etc/passwd", "/", "//", ".", "Vault/", "Vault/../Vault/Plan.md", "\u202e", "a\nb", "\ufeff", "😀", "%", "%s%n", "{++x++}", "{--", "[[", "---", "---\n: :\n---\n",
		"(", "[", "(?P<", "a{1000000}", "\\", "*", "**", "[!", "{a,b", "^", "^^", "#", "####### x", "null", "0", "-1", "1e999", "9223372036854775808", "2026-13-45", "0000-00-00",
		strings.Repeat("x", 300), strings.Repeat("a/", 3000), strings.Repeat("é", 5000), strings.Repeat("(", 1200), "note:///Vault/Plan.md", "NEXT", "W10", "file.name ==", "a == ", "status <", "date(\"x\")",
	}
	usualStrings = []string{
		"plan", "Plan", "## Plan", "# Work", "^para", "the", "status", "open", "work", "work/urgent", "One line.", "line", "- [ ] task", "regex:^#", "[a-z]+", "*.md", "**/*.md", "tides", "New text.\n", "2026-01-31",
		"status != \"done\"", "priority > 2", "{}", "views: []\n", "due", "Daily", "Folder", "contains", "path", "md", "2026-01-31T08:00:00Z", "today", "yesterday", "relayfs-tests",
	}
	hostileNumbers = []any{0, 1, 2, 3, -1, 1 << 31, 1 << 53, 1.5, "2", "x", 1e300}
	hostileValues  = []any{nil, true, false, "true", 0, -1, 1.5, []any{}, map[string]any{}, []any{[]any{}}, []any{nil}, map[string]any{"": nil}, "[]", "{}", "[{}]", `[{"path":1}]`}
)

// quotes has what stands once in a note.
var (
	quotes = map[string]string{"Plan.md": "One line about tides", "Other.md": "and other words", "Marks.md": "word", "Broken.md": "Text", "CRLF.md": "b", "Folder/Sub.md": "[[Plan]]"}
	often  = slices.Sorted(maps.Keys(quotes))
)

func pick[T any](r *caller, list []T) T { return list[r.IntN(len(list))] }

func (r *caller) text() string {
	switch r.IntN(8) {
	case 0, 1:
		return pick(r, r.files)
	case 2:
		return pick(r, hostileStrings)
	case 3:
		if len(r.cursors) > 0 {
			return pick(r, r.cursors)
		}
	case 4:
		if len(r.ids) > 0 {
			return pick(r, r.ids)
		}
	case 5:
		return pick(r, r.files) + pick(r, []string{":1", ":3: - [ ] a task", "x", "#Plan", "/sub", ".txt"})
	}
	return pick(r, usualStrings)
}

func (r *caller) object(depth int) map[string]any {
	o := make(map[string]any)
	for range r.IntN(4) {
		o[r.text()] = r.anything(depth - 1)
	}
	return o
}

func (r *caller) anything(depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return pick(r, hostileNumbers)
	case n == 1:
		return pick(r, hostileValues)
	case n == 2 && depth > 0:
		return r.object(depth)
	case n == 3 && depth > 0:
		return []any{r.anything(depth - 1), r.anything(depth - 1)}
	}
	return r.text()
}

// value returns an argument, most times one of its schema.
func (r *caller) value(name string, s inputSchema) any {
	if r.IntN(25) == 0 {
		return r.anything(2)
	}
	switch {
	case name == "entity_type":
		return pick(r, []string{"note", "note", "note", "canvas", "base"})
	case s.Enum != nil && r.IntN(8) > 0:
		return pick(r, s.Enum)
	case s.Type == "boolean":
		return r.IntN(2) == 0
	case s.Type == "integer" && r.IntN(3) > 0:
		return 1 + r.IntN(30)
	case s.Type == "integer":
		return pick(r, hostileNumbers)
	case s.Type == "object":
		return r.object(2)
	case s.Type == "array" && s.Items != nil:
		list := make([]any, r.IntN(4))
		for i := range list {
			if list[i] = any(r.text()); s.Items.Type == "object" {
				list[i] = r.arguments(*s.Items)
			} else if strings.Contains(name, "path") {
				list[i] = pick(r, r.files)
			}
		}
		return list
	case name == "cursor" && len(r.cursors) > 0:
		return pick(r, r.cursors)
	case strings.Contains(name, "path") && r.IntN(2) == 0:
		return "Vault/" + pick(r, often)
	case strings.Contains(name, "path") && r.IntN(6) > 0 || name == "folder" && r.IntN(2) == 0:
		return pick(r, r.files)
	}
	return r.text()
}

// arguments returns arguments of a schema. Where a list may stand instead of the arguments of one item, it is one of
// the two in most cases.
func (r *caller) arguments(s inputSchema) map[string]any {
	args := make(map[string]any)
	many := r.IntN(3) == 0
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		list := p.Type == "array" && p.Items != nil && p.Items.Type == "object"
		given := r.IntN(6) == 0
		switch {
		case slices.Contains(s.Required, name), list && many, pathLike.MatchString(name) && !many:
			given = r.IntN(40) > 0
		case list && !many:
			given = r.IntN(20) == 0
		}
		if given {
			args[name] = r.value(name, p)
		}
	}
	for _, file := range often {
		if r.IntN(3) == 0 || args["file_path"] != "Vault/"+file && args["path"] != "Vault/"+file {
			continue
		}
		for _, name := range []string{"old_string", "anchor_text"} {
			if _, given := args[name]; given {
				args[name] = quotes[file]
			}
		}
	}
	if r.IntN(30) == 0 {
		args[r.text()] = r.anything(1)
	}
	return args
}

// pathLike are the arguments that one item needs where several may be given.
var pathLike = regexp.MustCompile(`^(file_path|new_path|old_string|new_string|path|set)$`)

func hostileVault() map[string]string {
	files := map[string]string{
		"Plan.md":  "---\nstatus: open\ntags: [work/urgent]\npriority: 3\ndue: 2026-01-31\n---\n# Work\n\nOne line about tides. See [[Other]] and [[Nowhere]]. #home\n\n## Plan\n\n- [ ] a task\n- [x] done\n\nA paragraph ^para\n\n## Plan\n\nAgain.\n",
		"Other.md": "Plan and other words, Sub\n- [ ] b\n", "Empty.md": "", "CRLF.md": "a\r\nb\r\n# C\r\n", "Broken.md": "---\na: [\n---\nText\n", "Latin.md": "caf\xe9 plan\n",
		"Long.md": strings.Repeat("one very long line ", 5000) + "\n", "Marks.md": "A {--old--}{++new++} word {>>why?<<} here.\n", "Folder/Sub.md": "status:: x\n\n[[Plan]]\n",
		"Folder/board.canvas": `{"nodes":[],"edges":[]}`, "books.base": "filters:\n  and:\n    - status == \"open\"\nviews:\n  - type: table\n    name: Open\n    order: [file.name, status]\n", "bad.base": "filters: [", "image.png": "\x89PNG\r\n\x1a\nxxxx",
		".obsidian/daily-notes.json": `{"folder":"Daily","format":"YYYY/MM/YYYY-MM-DD","template":"Templates/Day"}`, ".obsidian/templates.json": `{"folder":"Templates"}`, "Templates/Day.md": "# {{title}}\n{{date:dddd}} {{time}}\n",
	}
	for i := range 40 {
		files[fmt.Sprintf("Folder/Many/Note %02d.md", i)] = fmt.Sprintf("---\nstatus: %s\npriority: %d\n---\n# Note %d\n\nThe plan [[Note %02d]] of %s.\n", []string{"open", "done"}[i%2], i, i, (i+1)%40, strings.Repeat("word ", i))
	}
	return files
}

// others changes files of the vault as programs do, one change for each receive from next.
func others(vault string, r *rand.Rand, next <-chan struct{}) {
	files := hostileVault()
	names := slices.Sorted(maps.Keys(files))
	n := 0
	for range next {
		n++
		p := filepath.Join(vault, names[n%len(names)])
		old, _ := os.ReadFile(p)
		// What fails here changes nothing, as elsewhere: a folder may be gone.
		switch r.IntN(6) {
		case 0:
			_ = os.Remove(p)
		case 1:
			_ = os.Rename(p, p+".away")
			_ = os.Rename(p+".away", p)
		case 2:
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			_ = os.WriteFile(p, []byte(files["Plan.md"]), 0o644)
		case 3:
			_ = os.WriteFile(p, append(old, fmt.Sprintf("\nA person's line %d, the plan.\n", n)...), 0o644)
		default:
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			_ = os.WriteFile(p, []byte(files[names[n%len(names)]]), 0o644)
		}
	}
}

var (
	cursorIn = regexp.MustCompile(`next_cursor"?: ?"([\w-]+)"`)
	idIn     = regexp.MustCompile(`\[([0-9a-f]{6,})\]`)
)

// slowest is the longest that any call may take.
var slowest = need.Scaled(10 * time.Second)

// Whatever the arguments are, on a vault that other programs change meanwhile, a tool answers in time with what its
// output schema says, or with a sentence that is none of Go's.
func TestMCPHostileArguments(t *testing.T) {
	t.Parallel()
	calls := 1000
	if os.Getenv("RELAYFS_SOAK") != "" {
		calls = 20_000
	}
	var tools []listedTool
	succeeded := make(map[string]int)
	for _, tt := range []struct {
		name  string
		flags []string
	}{
		{"suggest", nil},
		{"direct", []string{"--mode", "direct", "--structure", "direct", "--approve", "auto"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", hostileVault())
			c := s.MCP(t, append(tt.flags, "--toolsets", allToolsets, vault)...)
			tools = listTools(t, c)
			schemas := outputSchemas(t, tools)
			r := &caller{Rand: randomtest.New(t), files: []string{"Vault", "Vault/Folder", "Vault/Nowhere.md", "Plan", "Vault/Folder/New.md"}}
			for name := range hostileVault() {
				r.files = append(r.files, "Vault/"+name)
			}
			slices.Sort(r.files)
			next, ended := make(chan struct{}, 1), make(chan struct{})
			seed := r.Uint64()
			go func() {
				defer close(ended)
				others(vault, rand.New(rand.NewPCG(seed, 1)), next)
			}()
			for i := range calls {
				select {
				case next <- struct{}{}:
				default:
				}
				tool := pick(r, tools)
				args := r.arguments(tool.InputSchema)
				removes := strings.HasPrefix(tool.Name, "delete") || tool.Name == "move"
				if i%4 == 0 || removes && i%5 > 0 { // what was read may be changed, and what is gone may not
					tool, args = tools[slices.IndexFunc(tools, func(t listedTool) bool { return t.Name == "read" })], map[string]any{"file_path": "Vault/" + pick(r, often)}
				}
				start := time.Now()
				raw, rpcError := c.Ask(t, "tools/call", map[string]any{"name": tool.Name, "arguments": args})
				sent, _ := json.Marshal(args)
				what := fmt.Sprintf("call %d, %s %.600s", i, tool.Name, sent)
				if took := time.Since(start); took > slowest {
					t.Errorf("%s: an answer after %v, want one in %v", what, took, slowest)
				}
				if rpcError != nil {
					t.Errorf("%s: %.600s, want a result", what, rpcError)
					continue
				}
				var res struct {
					Content           []struct{ Text string }
					IsError           bool
					StructuredContent json.RawMessage
				}
				if err := json.Unmarshal(raw, &res); err != nil || len(res.Content) == 0 || res.Content[0].Text == "" {
					t.Errorf("%s: %v, got %.300s, want text", what, err, raw)
					continue
				}
				text := res.Content[0].Text
				if res.IsError && res.StructuredContent == nil && goText.MatchString(text) && !goText.Match(sent) {
					t.Errorf("%s: got Go's words: %.600s", what, text)
				}
				if len(raw) > 41_000 {
					t.Errorf("%s: got %d bytes, want at most 40,000", what, len(raw))
				}
				if wrong := schemas.check(tool.Name, res.StructuredContent); wrong != "" && (!res.IsError || res.StructuredContent != nil) {
					t.Errorf("%s: %s: %.600s", what, wrong, res.StructuredContent)
				}
				if !res.IsError {
					succeeded[tool.Name]++
				}
				for _, m := range cursorIn.FindAllStringSubmatch(text, 3) {
					r.cursors = append(r.cursors, m[1])
				}
				for _, m := range idIn.FindAllStringSubmatch(text, 3) {
					r.ids = append(r.ids, m[1])
				}
			}
			close(next)
			<-ended
			if log := c.Log.String(); regexp.MustCompile(`panic|goroutine`).MatchString(log) {
				t.Errorf("log: %.3000s", log)
			}
		})
	}
	t.Logf("calls that succeeded: %v", succeeded)
	if got, want := len(succeeded), len(tools)*3/4; got < want {
		t.Errorf("calls of %d tools succeeded, want at least %d of %d, or the arguments say little", got, want, len(tools))
	}
}
