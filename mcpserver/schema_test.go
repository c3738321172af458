package mcpserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the schema snapshots anew")

// The tools as clients see them are a contract: a change of a name, a
// description, a schema or a hint shows in testdata/tools.
func TestToolSnapshots(t *testing.T) {
	seen := make(map[string]bool)
	for _, tool := range allTools() {
		def := tool.definition()
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(def); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "tools", tool.name+".json")
		seen[filepath.Base(file)] = true
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs from its snapshot; run go test -update if that is meant:\n%s", tool.name, got.Bytes())
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("snapshot %s is of no tool", f.Name())
		}
	}
}

func TestToolDefinitions(t *testing.T) {
	for _, tool := range allTools() {
		def := tool.definition()
		a := def.Annotations
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: a hint is not set", tool.name)
		}
		if structured := tool.toolset != ToolsetClaude; structured != (def.RawOutputSchema != nil) {
			t.Errorf("%s: only structured tools have an output schema, which hides their text from some clients", tool.name)
		}
		for _, p := range tool.params {
			if p.Name == "" || p.Doc == "" {
				t.Errorf("%s: argument %q has no name or description", tool.name, p.Name)
			}
		}
	}
}

func TestPick(t *testing.T) {
	if err := CheckToolsets([]string{"claude", "nonsense"}); err == nil {
		t.Error("an unknown toolset is accepted")
	}
	readOnly, err := pick(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range readOnly {
		if !tool.hints.readOnly {
			t.Errorf("a read-only server offers %s", tool.name)
		}
	}
	all, err := pick([]string{ToolsetClaude}, false)
	if err != nil || len(all) != len(claudeTools()) || len(readOnly) == 0 || len(readOnly) >= len(all) {
		t.Errorf("picked %d tools, %d of them read-only: %v", len(all), len(readOnly), err)
	}
}
