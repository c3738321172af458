package tests

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The TypeScript SDK's client takes the structured result of every tool of the
// toolsets notes and content, and asks its user where the server wants that.
func TestMCPStructuredWithTypeScriptSDK(t *testing.T) {
	nodeBin(t)
	program, err := filepath.Abs("mcp-client/structured.mjs")
	if err != nil {
		t.Fatal(err)
	}
	s := newSandbox(t)
	files := map[string]string{"note.md": saveBefore, "board.canvas": "{}", "books.base": "views: []\n"}
	vault := s.vault(t, "Vault", files)
	out := s.node(t, nil, "node", program, relayfsBinary, "mcp", "--toolsets", "notes,content", "--approve", "delete=ask", vault)
	var got struct {
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
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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
	if len(got.Tools) != 15 || len(got.Questions) != 1 || !strings.Contains(got.Questions[0], "delete the note Vault/new.md") {
		t.Errorf("%d tools, asked %q", len(got.Tools), got.Questions)
	}
	// What changes files as a whole waits for a person.
	checkText(t, "vault's canvas", readFile(t, filepath.Join(vault, "board.canvas")), files["board.canvas"])
	if raw := readFile(t, filepath.Join(vault, "note.md")); !strings.Contains(raw, "{++") || !strings.Contains(raw, "status: done") {
		t.Errorf("vault's note: %q", raw)
	}
}
