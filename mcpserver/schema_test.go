package mcpserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/vault"
)

var update = flag.Bool("update", false, "write the schema snapshots anew")

// allTools are the tools of every set, in the order in which they are listed.
func allTools(t *testing.T) []tool.Tool {
	t.Helper()
	all, err := pick(Toolsets(), false)
	if err != nil {
		t.Fatal(err)
	}
	return all.tools
}

// The tools as clients see them are a contract: a change of a name, a
// description, a schema or a hint shows in testdata/tools.
func TestToolSnapshots(t *testing.T) {
	seen := make(map[string]bool)
	for _, tool := range allTools(t) {
		def := definition(tool)
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(def); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "tools", tool.Name+".json")
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
			t.Errorf("%s differs from its snapshot; run go test -update if that is meant:\n%s", tool.Name, got.Bytes())
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
	plain := make(map[string]bool)
	for _, tool := range slices.Concat(claude.Tools(), vault.Tools()) {
		plain[tool.Name] = true
	}
	for _, tool := range allTools(t) {
		def := definition(tool)
		a := def.Annotations
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s: a hint is not set", tool.Name)
		}
		if plain[tool.Name] != (def.RawOutputSchema == nil) {
			t.Errorf("%s: only structured tools have an output schema, which hides their text from some clients", tool.Name)
		}
		for _, p := range tool.Params {
			if p.Name == "" || p.Doc == "" {
				t.Errorf("%s: argument %q has no name or description", tool.Name, p.Name)
			}
		}
	}
}

// What a model is shown of each tool, before it has done anything: name, description and arguments. A token is
// about four bytes of that. The default toolset stays small; the log has the figures (make tokens).
func TestTokens(t *testing.T) {
	const bytesPerToken, mostTools, mostTokens = 4, 12, 2500
	for _, set := range toolsets() {
		sum := 0
		for _, tool := range set.tools {
			def := definition(tool)
			shown, err := json.Marshal(map[string]any{"name": def.Name, "description": def.Description, "input_schema": def.RawInputSchema})
			if err != nil {
				t.Fatal(err)
			}
			tokens := (len(shown) + bytesPerToken - 1) / bytesPerToken
			sum += tokens
			t.Logf("%-8s %-20s %5d", set.name, tool.Name, tokens)
		}
		t.Logf("%-8s %-20s %5d", set.name, "all", sum)
		if set.name == ToolsetClaude && (len(set.tools) > mostTools || sum > mostTokens) {
			t.Errorf("toolset %s has %d tools and about %d tokens; at most %d and %d", set.name, len(set.tools), sum, mostTools, mostTokens)
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
	for _, tool := range readOnly.tools {
		if !tool.Hints.ReadOnly {
			t.Errorf("a read-only server offers %s", tool.Name)
		}
	}
	all, err := pick([]string{ToolsetClaude}, false)
	if err != nil || len(all.tools) != len(claude.Tools()) || len(readOnly.tools) == 0 || len(readOnly.tools) >= len(all.tools) {
		t.Errorf("picked %d tools, %d of them read-only: %v", len(all.tools), len(readOnly.tools), err)
	}
}
