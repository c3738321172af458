package files

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// stairs are n lines, each indented by two columns more than the one before.
func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// numbered is part n times, each with another number.
func numbered(part string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, part, i)
	}
	return b.String()
}

// hostileNotes are texts that a parser may need very long for, or much memory.
var hostileNotes = map[string]string{
	"brackets":       "---\na: " + strings.Repeat("[", 30_000) + "\n---\n",
	"unclosed":       "---\na: " + strings.Repeat("[", 30_000),
	"aliases":        "---\na: &a " + strings.Repeat("x", 30_000) + "\n? [" + strings.Repeat("*a, ", 7_000) + "]\n: 1\n---\n",
	"properties":     "---\n" + numbered("k%d: v\n", 20_000) + "---\n",
	"quotes":         strings.Repeat(">", 40_000),
	"items":          stairs(1500),
	"items in a row": strings.Repeat("- ", 40_000),
	"tags":           numbered("#t%d ", 40_000),
	"one tag":        "#" + strings.Repeat("a/", 100_000),
	"comments":       strings.Repeat("#<!--", 40_000),
	"open links":     strings.Repeat("#[[", 60_000),
	"links":          "#t " + numbered("[[n%d]]", 60_000),
	"blank lines":    strings.Repeat("- ", 50) + "```\n" + strings.Repeat("\n", 200_000),
	"openers":        strings.Repeat("{++{--{~~{>>", 20_000),
}

// What a note costs is bounded, whatever is in it, and nobody waits for it who asks for
// another.
func TestHostileNotes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Mkdir(t, "Notes")
	for name, text := range hostileNotes {
		if err := os.WriteFile(s.Path("Notes", name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.Path("Notes", "Plain.md"), []byte("---\ntags: [home]\n---\n# Plan\nSee [[quotes]].\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := s.MCP(t, "--toolsets", "claude,notes,content", vault)
	start := time.Now()
	for _, call := range []struct {
		tool string
		args []any
		want string
	}{
		{"read_metadata", []any{"path", "Notes/Plain.md"}, `"heading_count":1`},
		{"property_search", []any{"properties", map[string]any{"tags": "home"}}, "Notes/Plain.md"},
		{"get_links", []any{"file_path", "Notes/Plain.md"}, "Notes/quotes.md"},
		{"list_notes", nil, "Notes/Plain.md"},
	} {
		began := time.Now()
		answer := client.MustCall(t, call.tool, call.args...)
		if took := time.Since(began); took > need.Scaled(8*time.Second) {
			t.Errorf("%s took %v beside the hostile notes", call.tool, took)
		}
		if !strings.Contains(answer, call.want) {
			t.Errorf("%s answered %.300s", call.tool, answer)
		}
	}
	t.Logf("all tools together: %v", time.Since(start))
	if kb := peakMemory(t, client.Cmd.Process.Pid); kb > 800<<10 {
		t.Errorf("the server took %d MB", kb>>10)
	}
	// What is not read says why.
	for path, want := range map[string]string{"brackets": "frontmatter_error", "quotes": "lists and quotes are nested more than 50 deep", "items": "line 51: "} {
		if got := client.MustCall(t, "read_metadata", "path", "Notes/"+path+".md"); !strings.Contains(got, want) {
			t.Errorf("metadata of %s: %.300s", path, got)
		}
	}
}

// Files that are larger than the memory are not read, and the other files stay usable.
func TestFilesLargerThanMemory(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Notes", map[string]string{"Plain.md": "plain text\n", "Grown.md": "grown words\n", ".obsidian/app.json": "{}"})
	for _, name := range []string{"Huge.md", "Huge.canvas", "Huge.base", "huge.png", ".obsidian/daily-notes.json"} {
		err := os.WriteFile(s.Path("Notes", name), nil, 0o600)
		if err := errors.Join(err, os.Truncate(s.Path("Notes", name), 1<<40)); err != nil {
			t.Skip(err) // the disk has no sparse files
		}
	}
	client := s.MCP(t, "--toolsets", "claude,notes,vault", vault)
	client.MustCall(t, "semantic_search", "query", "grown words")
	if err := os.Truncate(s.Path("Notes", "Grown.md"), 1<<40); err != nil { // after all indexes have it
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool string
		args []any
		want string
	}{
		{"read", []any{"file_path", "Notes/Huge.md"}, "too large"},
		{"edit", []any{"file_path", "Notes/Huge.md", "old_string", "a", "new_string", "b"}, "too large"},
		{"read", []any{"file_path", "Notes/Huge.canvas"}, "not text"},
		{"periodic_note", nil, "daily-notes.json cannot be read"},
		{"semantic_search", []any{"query", "grown plain words"}, "Notes/Plain.md"},
		{"search", []any{"query", "grown plain words"}, "Notes/Plain.md"},
		{"grep", []any{"pattern", "plain"}, "Notes/Plain.md"},
		{"grep", []any{"pattern", "plain"}, "cannot be read: Notes/Huge.md."},
		{"grep", []any{"pattern", "plain", "path", "Notes/Huge.md"}, "cannot be read: Notes/Huge.md"},
		{"list_notes", nil, "Notes/Plain.md"},
		{"property_search", []any{"properties", map[string]any{"a": 1}}, "[]"},
		{"list_suggestions", nil, ""},
		{"read", []any{"file_path", "Notes/Plain.md"}, "plain text"},
		{"edit", []any{"file_path", "Notes/Plain.md", "old_string", "plain", "new_string", "simple"}, "Notes/Plain.md"},
	} {
		if got := client.Call(t, tt.tool, tt.args...); !strings.Contains(got.Text, tt.want) {
			t.Errorf("%s %v: %.300q, want %q", tt.tool, tt.args, got.Text, tt.want)
		}
	}
	if kb := peakMemory(t, client.Cmd.Process.Pid); kb > 300<<10 {
		t.Errorf("the server took %d MB", kb>>10)
	}
}

// Delimiters that are written one by one do not take a person's words between them.
func TestDelimitersOneByOne(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"{++", "++}"}, {"{--", "--}"}} {
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": "alpha beta gamma delta\n"}))
		note := m.Path("n.md")
		if err := os.WriteFile(note, []byte("alpha beta "+pair[0]+" gamma delta\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(note, []byte("alpha beta "+pair[0]+" gamma "+pair[1]+" delta\n"), 0o644); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%v around a person's word: %v, want %v", pair, err, syscall.EINVAL)
		}
		s.Decide(t, "accept", "--all", m.Vault)
		harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("n.md")), "alpha beta "+pair[0]+" gamma delta\n")
	}
}

// peakMemory returns the peak memory of a process in KB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		t.Skip("the system does not tell")
	}
	kb, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb
}
