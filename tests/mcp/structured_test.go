package mcp

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// structuredRun is what tests/mcp-client/structured.mjs prints.
type structuredRun struct {
	Tools []struct {
		Name   string
		Schema bool
	}
	Questions []string
	Calls     []struct {
		Tool, Text string
		Structured any
		IsError    bool
	}
}

// structuredFiles are what is in the vault that structured.mjs works on.
var structuredFiles = map[string]string{"note.md": harness.TideTable, "board.canvas": "{}", "books.base": "views: []\n"}

// runStructured runs structured.mjs against a server of its own, over stdio or HTTP.
func runStructured(t *testing.T, s *harness.Sandbox, kind, vault string, env []string, flags ...string) structuredRun {
	t.Helper()
	nodeBin(t)
	program := harness.Repo("tests/mcp-client/structured.mjs")
	args := append([]string{"--toolsets", "notes,content"}, append(flags, vault)...)
	if kind == "http" {
		h := serveHTTP(t, s, args...)
		env, args = append(env, "MCP_TOKEN="+h.token), []string{h.url}
	} else {
		args = append([]string{s.Binary, "mcp"}, args...)
	}
	out := runClient(t, s, env, "node", append([]string{program, kind}, args...)...)
	var got structuredRun
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}

// The TypeScript SDK's client takes the structured result of every tool of the
// toolsets notes and content, and asks its user where the server wants that.
func TestMCPStructuredWithTypeScriptSDK(t *testing.T) {
	t.Parallel()
	// Nobody is asked about the two calls that fail.
	all := []string{"create the note Vault/new.md", "change the note Vault/note.md", "change the note Vault/note.md", "replace the content of Vault/board.canvas", "delete the note Vault/new.md", "append to the note Vault/note.md", `set {"status":"new"} in Vault/note.md`}
	for _, tt := range []struct {
		kind, approve string
		questions     []string
	}{
		{"stdio", "delete=ask", all[4:5]},
		{"stdio", "ask", all},
		{"http", "auto", nil},
		{"http", "ask", all},
	} {
		t.Run(tt.kind+" "+tt.approve, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", structuredFiles)
			got := runStructured(t, s, tt.kind, vault, nil, "--approve", tt.approve)
			checkStructured(t, got)
			checkQuestions(t, got.Questions, tt.questions)
			// What changes files as a whole waits for a person.
			harness.CheckText(t, "vault's canvas", harness.ReadFile(t, filepath.Join(vault, "board.canvas")), structuredFiles["board.canvas"])
			if raw := harness.ReadFile(t, filepath.Join(vault, "note.md")); !strings.Contains(raw, "{++") || !strings.Contains(raw, "status: new") {
				t.Errorf("vault's note: %q", raw)
			}
		})
	}
}

func checkQuestions(t *testing.T, got, want []string) {
	t.Helper()
	for i, q := range got {
		if i >= len(want) || !strings.Contains(q, " wants to "+want[i]) {
			t.Errorf("question %d: %q", i, q)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d questions, want %d: %q", len(got), len(want), got)
	}
}

func checkStructured(t *testing.T, got structuredRun) {
	t.Helper()
	called := make(map[string]bool)
	for i, c := range got.Calls {
		called[c.Tool] = true
		var text any
		if err := json.Unmarshal([]byte(c.Text), &text); err != nil || !reflect.DeepEqual(text, c.Structured) {
			t.Errorf("%s: the text %s is not the structured result %v", c.Tool, c.Text, c.Structured)
		}
		if want := i == 12 || i == 15; c.IsError != want {
			t.Errorf("call %d, %s: error %v: %s", i, c.Tool, c.IsError, c.Text)
		}
	}
	for _, tool := range got.Tools {
		if !tool.Schema || !called[tool.Name] {
			t.Errorf("%s: output schema %v, called %v", tool.Name, tool.Schema, called[tool.Name])
		}
	}
	if len(got.Tools) != 21 {
		t.Errorf("%d tools, want %d", len(got.Tools), 21)
	}
}

// A client that cannot ask its user is told so, and may delete once the model says
// that the person agrees.
func TestMCPApprovalWithoutElicitation(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", structuredFiles)
			got := runStructured(t, s, kind, vault, []string{"MCP_ASK=no"}, "--approve", "ask")
			want := []string{"this client cannot ask for it", "call the tool again with confirm: true", `"status":"proposed"`}
			for i, c := range got.Calls {
				if !strings.Contains(c.Text, want[i]) || c.IsError != (i < 2) {
					t.Errorf("call %d, %s: %s, error %v", i, c.Tool, c.Text, c.IsError)
				}
			}
			if len(got.Calls) != len(want) || len(got.Questions) != 0 {
				t.Errorf("%d calls, asked %q", len(got.Calls), got.Questions)
			}
			harness.CheckText(t, "vault's note", harness.ReadFile(t, filepath.Join(vault, "note.md")), harness.TideTable)
		})
	}
}
