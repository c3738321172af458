package owner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Two vaults, of which clients here are given the first: "Alpha". Nothing that one
// of them is shown may hold what only the second has, and nothing of that changes.
var reachNotes = map[string]map[string]string{
	"Alpha": {"mine.md": "#plant\n\nA plain {--rose--}{++tulip++} of [[mine]] and [[Beta/theirs]].\n"},
	"Beta":  {"theirs.md": "---\nstatus: hushed\n---\n#plant\n\nA hushed {--rose--}{++orchid++} of [[theirs]], see [[Alpha/mine]].\n", "more.md": "{++hushed++} too\n"},
}

// twoVaults makes the vaults and mounts both in one process.
func twoVaults(t *testing.T, s *harness.Sandbox) (alpha, beta string, m *harness.Mount) {
	t.Helper()
	alpha, beta = s.Vault(t, "Alpha", reachNotes["Alpha"]), s.Vault(t, "Beta", reachNotes["Beta"])
	return alpha, beta, s.MountAt(t, beta, s.Mkdir(t, "mnt"), "--toolsets", "claude,notes,content", alpha)
}

// checkUntouched checks that the second vault is as it was.
func checkUntouched(t *testing.T, beta string) {
	t.Helper()
	for name, text := range reachNotes["Beta"] {
		harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(beta, name)), text)
	}
}

// checkHushed checks that text tells nothing of the second vault.
func checkHushed(t *testing.T, what, text string) {
	t.Helper()
	for _, word := range []string{"hushed", "orchid", "theirs.md", "more.md"} {
		if strings.Contains(text, word) {
			t.Errorf("%s tells of the other vault:\n%s", what, text)
			return
		}
	}
}

// Whatever an MCP client of one vault calls, with whatever path, it gets at that
// vault alone.
func TestMCPReachesItsSourceOnly(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	alpha, beta, m := twoVaults(t, s)
	_ = s.MCP(t, beta).MustCall(t, "semantic_search", "query", "rose") // the index knows all
	id := betaSuggestion(t, s, beta)
	client := s.MCP(t, alpha)
	if got := client.MustCall(t, "read", "file_path", "Alpha/mine.md"); !strings.Contains(got, "tulip") {
		t.Errorf("its own note: %s", got)
	}
	var tools struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(client.Request(t, "tools/list", map[string]any{}), &tools); err != nil || len(tools.Tools) < 20 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	for _, path := range []string{"Beta/theirs.md", "/Beta/theirs.md", m.Path("theirs.md"), "Beta", "beta/THEIRS", "Alpha/../Beta/theirs.md", "", "Alpha/mine.md"} {
		args := map[string]any{ // every name that some tool has for an argument
			"file_path": path, "path": path, "folder": path, "source": path, "directory": path,
			"pattern": "**", "query": "rose", "old_string": "of", "new_string": "over", "content": "gone", "text": "a word",
		}
		for _, tool := range tools.Tools {
			if path == "Alpha/mine.md" && strings.Contains("write edit delete move rename", tool.Name) {
				continue
			}
			for key := range args {
				only := map[string]any{}
				for k, v := range args {
					only[k] = v
				}
				delete(only, key)
				result, rpcError := client.Ask(t, "tools/call", map[string]any{"name": tool.Name, "arguments": only})
				text := strings.ReplaceAll(string(result)+string(rpcError), strings.ReplaceAll(path, "/", `/`), "")
				checkHushed(t, tool.Name+" "+path, text)
			}
		}
	}
	checkReaches(t, client, beta, id)
	checkUntouched(t, beta)
}

// checkReaches tries the calls by which the other vault was to be had, one by one.
func checkReaches(t *testing.T, client *harness.MCPClient, beta, id string) {
	t.Helper()
	for _, call := range [][]any{
		{"grep", "pattern", "rose|hushed", "output_mode", "content"},
		{"grep", "pattern", "hushed"},
		{"glob", "pattern", "**/*.md"},
		{"list_suggestions"},
		{"get_links", "file_path", "Alpha/mine.md"},
		{"list_notes"},
		{"text_search", "query", "rose"},
		{"property_search", "filters", map[string]any{"tags": "plant"}},
		{"semantic_search", "query", "a rose of the garden"},
	} {
		args := call[1:]
		checkHushed(t, fmt.Sprint(call...), client.Call(t, call[0].(string), args...).Text)
	}
	for _, refused := range [][]string{
		{"read", "file_path", "Beta/theirs.md"},
		{"write", "file_path", "Beta/new.md", "content", "mine now\n"},
		{"delete", "file_path", "Beta/more.md"},
	} {
		if got := client.Call(t, refused[0], anySlice(refused[1:])...); !got.IsError {
			t.Errorf("%v: %s", refused, got.Text)
		}
	}
	if _, err := os.Stat(filepath.Join(beta, "new.md")); err == nil {
		t.Error("a note was made in the other vault")
	}
	list := client.Request(t, "resources/list", map[string]any{})
	checkHushed(t, "resources/list", string(list))
	if !strings.Contains(string(list), "Alpha/mine.md") {
		t.Errorf("resources/list: %s", list)
	}
	if _, rpcError := client.Ask(t, "resources/read", map[string]any{"uri": "note:///Beta/theirs.md"}); rpcError == nil {
		t.Error("resources/read of the other vault is answered")
	}
	completion := client.Request(t, "completion/complete", map[string]any{
		"ref": map[string]any{"type": "ref/resource", "uri": "note:///{+path}"}, "argument": map[string]any{"name": "path", "value": ""},
	})
	checkHushed(t, "completion", string(completion))
}

func anySlice(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// betaSuggestion is the id of a suggestion of the second vault.
func betaSuggestion(t *testing.T, s *harness.Sandbox, beta string) string {
	t.Helper()
	for _, x := range s.Suggestions(t, beta) {
		if x.Path == "Beta/theirs.md" {
			return x.ID
		}
	}
	t.Fatal("the other vault has no suggestion")
	return ""
}

// A client that watches a note of another vault hears nothing of it.
func TestMCPHearsOfItsSourceOnly(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	alpha, beta, _ := twoVaults(t, s)
	client := s.MCP(t, alpha)
	for _, uri := range []string{"note:///Beta/more.md", "note:///Alpha/mine.md"} {
		client.Request(t, "resources/subscribe", map[string]any{"uri": uri})
	}
	harness.WriteFile(t, filepath.Join(beta, "more.md"), "another line\n")
	harness.WriteFile(t, filepath.Join(alpha, "mine.md"), "a line of mine\n")
	for {
		line := string(<-client.Out)
		if strings.Contains(line, "Beta/more.md") {
			t.Fatalf("the client hears %s", line)
		}
		if strings.Contains(line, "notifications/resources/updated") {
			break // events come in order
		}
	}
}

// Every command that is given one of two vaults works on that one.
func TestCommandsReachTheirSourceOnly(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	alpha, beta, _ := twoVaults(t, s)
	id := betaSuggestion(t, s, beta)
	for _, args := range [][]string{
		{"status", alpha}, {"suggestions", "list", alpha}, {"suggestions", "show", alpha}, {"suggestions", "log", alpha},
		{"ls", "-R", "--source", alpha}, {"ls", "--source", alpha}, {"grep", "of", "--source", alpha},
		{"suggestions", "list", "--json", alpha},
	} {
		out := s.Run(t, args...)
		if out.Code != 0 {
			t.Errorf("%v: exit %d, %s", args, out.Code, out.Stderr)
		}
		checkHushed(t, strings.Join(args, " "), out.Stdout+out.Stderr)
	}
	for _, args := range [][]string{
		{"cat", "Beta/theirs.md", "--source", alpha}, {"ls", "Beta", "--source", alpha}, {"grep", "hushed", "Beta", "--source", alpha},
		{"edit", "Beta/theirs.md", "--old", "of", "--new", "over", "--source", alpha}, {"suggestions", "show", id, alpha},
		{"suggestions", "accept", id, alpha}, {"suggestions", "reject", id, alpha},
	} {
		if out := s.Run(t, args...); out.Code == 0 {
			t.Errorf("%v: exit 0, %s", args, out.Stdout)
		}
	}
	if out := s.Run(t, "suggestions", "accept", "--all", alpha); out.Code != 0 {
		t.Errorf("accept: exit %d, %s", out.Code, out.Stderr)
	}
	harness.CheckText(t, "its own note", harness.ReadFile(t, filepath.Join(alpha, "mine.md")), "#plant\n\nA plain tulip of [[mine]] and [[Beta/theirs]].\n")
	checkUntouched(t, beta)

	// What is decided in the other vault cannot be taken back from here, neither
	// by name nor as the newest.
	other := s.Run(t, "suggestions", "reject", "--json", id, beta)
	var decided struct{ Batch string }
	if err := json.Unmarshal([]byte(other.Stdout), &decided); err != nil {
		t.Fatalf("%v: %s%s", err, other.Stdout, other.Stderr)
	}
	after := harness.ReadFile(t, filepath.Join(beta, "theirs.md"))
	if out := s.Run(t, "suggestions", "undo", decided.Batch, alpha); out.Code == 0 {
		t.Errorf("undo of the other vault's: %s", out.Stdout)
	}
	checkHushed(t, "log", s.Run(t, "suggestions", "log", alpha).Stdout)
	if out := s.Run(t, "suggestions", "undo", alpha); out.Code != 0 || !strings.Contains(out.Stdout, "Alpha/mine.md") {
		t.Errorf("undo: exit %d, %s%s", out.Code, out.Stdout, out.Stderr)
	}
	harness.CheckText(t, "its own note after undo", harness.ReadFile(t, filepath.Join(alpha, "mine.md")), reachNotes["Alpha"]["mine.md"])
	harness.CheckText(t, "the other vault's note", harness.ReadFile(t, filepath.Join(beta, "theirs.md")), after)
}

// A decision in both vaults is taken back in one, and later in the other.
func TestUndoWithinASource(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	alpha, beta, _ := twoVaults(t, s)
	out := s.Run(t, "suggestions", "accept", "--all", "--json")
	var decided struct{ Batch string }
	if err := json.Unmarshal([]byte(out.Stdout), &decided); err != nil {
		t.Fatalf("%v: %s%s", err, out.Stdout, out.Stderr)
	}
	accepted := harness.ReadFile(t, filepath.Join(beta, "more.md"))
	if out := s.Run(t, "suggestions", "undo", decided.Batch, alpha); out.Code != 0 {
		t.Fatalf("undo in one: %s", out.Stderr)
	}
	harness.CheckText(t, "the one", harness.ReadFile(t, filepath.Join(alpha, "mine.md")), reachNotes["Alpha"]["mine.md"])
	harness.CheckText(t, "the other", harness.ReadFile(t, filepath.Join(beta, "more.md")), accepted)
	if out := s.Run(t, "suggestions", "undo", decided.Batch, beta); out.Code != 0 {
		t.Fatalf("undo in the other: %s", out.Stderr)
	}
	checkUntouched(t, beta)
}

// Where no one process serves what a command names, it says so and does nothing.
func TestSourcesOfSeveralOwners(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	alpha, beta, free := s.Vault(t, "Alpha", reachNotes["Alpha"]), s.Vault(t, "Beta", reachNotes["Beta"]), s.Vault(t, "Free", map[string]string{"a.md": "{++a++}\n"})
	a, b := s.MountAt(t, alpha, s.Mkdir(t, "mnt-a")), s.MountAt(t, beta, s.Mkdir(t, "mnt-b"))
	commands := func(sources ...string) [][]string {
		var named []string
		for _, src := range sources {
			named = append(named, "--source", src)
		}
		return [][]string{
			append([]string{"status"}, sources...),
			append([]string{"suggestions", "list"}, sources...),
			append([]string{"suggestions", "show"}, sources...),
			append([]string{"suggestions", "accept", "--all"}, sources...),
			append([]string{"suggestions", "reject", "--all"}, sources...),
			append([]string{"suggestions", "undo"}, sources...),
			append([]string{"suggestions", "log"}, sources...),
			append([]string{"review"}, sources...),
			append([]string{"mcp"}, sources...),
			append([]string{"mcp", "--http", "127.0.0.1:0"}, sources...),
			append([]string{"ls"}, named...),
			append([]string{"cat", "Alpha/mine.md"}, named...),
			append([]string{"grep", "a"}, named...),
			append([]string{"edit", "Alpha/mine.md", "--old", "plain", "--new", "bold"}, named...),
		}
	}
	check := func(sources []string) {
		for _, args := range commands(sources...) {
			out := s.Run(t, args...)
			owner := a
			if !slices.Contains(sources, alpha) {
				owner = b
			}
			if out.Code != 1 || !strings.Contains(out.Stderr, "served") || !strings.Contains(out.Stderr, "relayfs: hint: ") || out.Stdout != "" {
				t.Errorf("%v: exit %d\n%s%s", args, out.Code, out.Stdout, out.Stderr)
			}
			if args[0] != "mcp" && !strings.Contains(out.Stderr, fmt.Sprint(owner.Cmd.Process.Pid)) {
				t.Errorf("%v names no process: %s", args, out.Stderr)
			}
		}
	}
	var all sync.WaitGroup
	for _, sources := range [][]string{{alpha, beta}, {beta, alpha}, {alpha, free}, {free, alpha}} {
		all.Go(func() { check(sources) })
	}
	all.Wait()
	checkUntouched(t, beta)
	harness.CheckText(t, "the first", harness.ReadFile(t, filepath.Join(alpha, "mine.md")), reachNotes["Alpha"]["mine.md"])
	harness.CheckText(t, "the free one", harness.ReadFile(t, filepath.Join(free, "a.md")), "{++a++}\n")
}
