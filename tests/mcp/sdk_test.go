package mcp

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// nodeBin is where npm put the clients, and a Node that is new enough for them.
func nodeBin(t *testing.T) string {
	t.Helper()
	bin := harness.Repo("tests/mcp-client/node_modules/.bin")
	if _, err := os.Stat(filepath.Join(bin, "node")); err != nil {
		need.Missing(t, "tests/mcp-client is not installed: run npm ci there")
	}
	return bin
}

// runClient runs a program of tests/mcp-client in the sandbox and returns its output.
func runClient(t *testing.T, s *harness.Sandbox, env []string, name string, args ...string) []byte {
	t.Helper()
	bin := nodeBin(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	cmd.Env = append(slices.Clone(s.Env), append(env, "PATH="+bin+":"+os.Getenv("PATH"))...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}

// driven is what tests/mcp-client/drive.mjs prints.
type driven struct {
	Server string
	Tools  []string
	Calls  []struct {
		Tool, Text string
		IsError    bool
	}
	Resource string
	Prompts  []string
}

// The TypeScript SDK's client uses every tool, over stdio and over HTTP, with
// the same results.
func TestMCPWithTypeScriptSDK(t *testing.T) {
	t.Parallel()
	nodeBin(t)
	drive := harness.Repo("tests/mcp-client/drive.mjs")
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
			var out []byte
			if kind == "stdio" {
				out = runClient(t, s, nil, "node", drive, "stdio", s.Binary, "mcp", "--structure", "direct", vault)
			} else {
				h := serveHTTP(t, s, "--structure", "direct", vault)
				out = runClient(t, s, []string{"MCP_TOKEN=" + h.token}, "node", drive, "http", h.url)
			}
			var got driven
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			checkDriven(t, got)
			raw := harness.ReadFile(t, filepath.Join(vault, "note.md"))
			if !strings.Contains(raw, "{--six--}{++seven++}") || !strings.Contains(raw, "{>>Sure?<<}") {
				t.Errorf("vault's note: %q", raw)
			}
		})
	}
}

func checkDriven(t *testing.T, got driven) {
	t.Helper()
	want := []string{ // beginnings of the results, in the order of the calls
		"Vault/note.md", "You must read this document", "Vault/note.md:3:The tide turns at six", "     1\t", "Edited Vault/note.md",
		"Created Vault/new.md", "Backlinks (documents linking to this):", "Vault/note.md (Tide table)\n     3\tThe tide turns at seven", "Commented on Vault/note.md", "Vault/new.md:1:", "Vault/note.md:",
		"Moved Vault/new.md to Vault/sub/newer.md.", "Deleted Vault/sub/newer.md.",
	}
	var used []string
	for i, c := range got.Calls {
		used = append(used, c.Tool)
		if i >= len(want) || !strings.HasPrefix(c.Text, want[i]) || c.IsError != (i == 1) {
			t.Errorf("call %d, %s: %q, error %v", i, c.Tool, c.Text, c.IsError)
		}
	}
	slices.Sort(used)
	if used = slices.Compact(used); len(got.Calls) != len(want) || !slices.Equal(used, got.Tools) {
		t.Errorf("%d calls of %v; the tools are %v", len(got.Calls), used, got.Tools)
	}
	if got.Server != "relayfs" || len(got.Prompts) != 3 || !strings.Contains(got.Resource, "at seven") {
		t.Errorf("server %q, prompts %v, resource %q", got.Server, got.Prompts, got.Resource)
	}
}

// The inspector finds nothing in the schemas that some client would not take.
func TestMCPInspectorStrict(t *testing.T) {
	t.Parallel()
	nodeBin(t)
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	out := runClient(t, s, nil, "mcp-inspector", "--cli", s.Binary, "mcp", vault, "--method", "tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) != 12 {
		t.Errorf("%d tools, %v: %s", len(list.Tools), err, out)
	}
}
