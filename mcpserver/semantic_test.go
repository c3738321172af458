package mcpserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// labelledSet is that of bridge/index/semantic: notes, and for each question the note
// that answers it.
func labelledSet(t *testing.T) (notes map[string]string, answers [][2]string) {
	t.Helper()
	const dir = "../bridge/index/semantic/testdata"
	files, err := filepath.Glob(dir + "/labelled-*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no labelled notes: %v", err)
	}
	notes = make(map[string]string)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			notes["Vault/"+f.Name] = string(f.Data)
		}
	}
	data, err := os.ReadFile(dir + "/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if query, answer, ok := strings.Cut(strings.TrimSpace(line), " => "); ok && !strings.HasPrefix(line, "#") {
			answers = append(answers, [2]string{query, "Vault/" + answer + ".md"})
		}
	}
	return notes, answers
}

var longWord = regexp.MustCompile(`[A-Za-z0-9]{4,}`)

// semantic_search finds the answer to most questions among its first ten notes,
// far more often than text_search does, be it by the question as it stands or by
// any of its longer words.
func TestSemanticBeatsText(t *testing.T) {
	need.Plain(t)
	notes, answers := labelledSet(t)
	f := bridgetest.New(t, notes)
	srv := mcpserver.New(f.Workspace, mcpserver.Options{Toolsets: []string{"notes"}})
	t.Cleanup(srv.Close)
	c := newTools(t, srv)
	first := func(list string, text string) []string {
		var res map[string]any
		if err := json.Unmarshal([]byte(text), &res); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, item := range res[list].([]any) {
			if p := item.(map[string]any)["path"].(string); !slices.Contains(paths, p) && len(paths) < 10 {
				paths = append(paths, p)
			}
		}
		return paths
	}
	var semantic, literal, words float64
	for _, a := range answers {
		share := 1 / float64(len(answers))
		anyWord := "regex:" + strings.Join(longWord.FindAllString(a[0], -1), "|")
		if slices.Contains(first("results", c.ok("semantic_search", "query", a[0])), a[1]) {
			semantic += share
		}
		if slices.Contains(first("matches", c.ok("text_search", "query", a[0])), a[1]) {
			literal += share
		}
		if slices.Contains(first("matches", c.ok("text_search", "query", anyWord)), a[1]) {
			words += share
		}
	}
	t.Logf("recall at 10: semantic_search %.2f, text_search %.2f, by any word %.2f", semantic, literal, words)
	if semantic < 0.8 || semantic < max(literal, words)+0.2 {
		t.Errorf("recall at 10 is %.2f, that of text_search %.2f and %.2f", semantic, literal, words)
	}
}
