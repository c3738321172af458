package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What the tools delete_note and replace_content propose waits in the queue, over
// the end of the process; the vault changes when a person accepts, and where the
// file has been changed meanwhile, a person is told.
func TestMCPProposalsThroughTheQueue(t *testing.T) {
	t.Parallel()
	const oldCanvas, newCanvas = "{\n}\n", `{"nodes":[],"edges":[]}`
	files := map[string]string{
		"gone.md": "See nothing.\n", "stays.md": "[[gone]]\n", "typed.md": "One.\n", "link.md": "[[stays]]\n",
		"accepted.canvas": oldCanvas, "rejected.canvas": oldCanvas, "changed.canvas": oldCanvas, "books.base": "views: []\n",
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	client := s.MCP(t, "--toolsets", "notes,content", vault)
	if got := client.MustCall(t, "delete_note", "path", "Vault/gone.md"); !strings.Contains(got, `"status":"proposed","had_backlinks":true,"backlink_count":1`) {
		t.Errorf("delete_note says %s", got)
	}
	client.MustCall(t, "delete_note", "path", "Vault/stays.md")
	client.MustCall(t, "delete_note", "path", "Vault/typed.md")
	for _, name := range []string{"accepted", "rejected", "changed"} {
		client.MustCall(t, "get_content", "entity_type", "canvas", "path", "Vault/"+name+".canvas")
		client.MustCall(t, "replace_content", "entity_type", "canvas", "path", "Vault/"+name+".canvas", "content", newCanvas)
	}
	client.MustCall(t, "replace_content", "entity_type", "base", "path", "Vault/new.base", "content", "views: []\n")
	if got := client.MustCall(t, "get_content", "entity_type", "canvas", "path", "Vault/accepted.canvas"); !strings.Contains(got, "edges") {
		t.Errorf("the writer does not see what it proposed: %s", got)
	}
	client.Close(t)
	for name, text := range files {
		harness.CheckText(t, name+" before a decision", harness.ReadFile(t, filepath.Join(vault, name)), text)
	}

	persons := "{\"nodes\": []}\n"
	for name, text := range map[string]string{"changed.canvas": persons, "typed.md": "One. Two.\n"} {
		if err := os.WriteFile(filepath.Join(vault, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := s.Suggestions(t, vault)
	accept := func(path string) harness.Output {
		return s.Run(t, "suggestions", "accept", "--yes", harness.IDOf(t, list, path), vault)
	}
	for _, path := range []string{"gone.md", "accepted.canvas", "new.base"} {
		if out := accept(path); out.Code != 0 {
			t.Errorf("accept %s: %+v", path, out)
		}
	}
	for _, path := range []string{"stays.md", "rejected.canvas"} {
		if out := s.Run(t, "suggestions", "reject", "--yes", harness.IDOf(t, list, path), vault); out.Code != 0 {
			t.Errorf("reject %s: %+v", path, out)
		}
	}
	if _, err := os.Stat(filepath.Join(vault, "gone.md")); !os.IsNotExist(err) {
		t.Errorf("the deleted note is still there: %v", err)
	}
	harness.CheckText(t, "note whose deletion was rejected", harness.ReadFile(t, filepath.Join(vault, "stays.md")), files["stays.md"])
	harness.CheckText(t, "accepted canvas", harness.ReadFile(t, filepath.Join(vault, "accepted.canvas")), newCanvas)
	harness.CheckText(t, "rejected canvas", harness.ReadFile(t, filepath.Join(vault, "rejected.canvas")), oldCanvas)
	harness.CheckText(t, "accepted new base", harness.ReadFile(t, filepath.Join(vault, "new.base")), "views: []\n")
	harness.CheckText(t, "canvas changed by a person", harness.ReadFile(t, filepath.Join(vault, "changed.canvas")), persons)
	// Accepting over what the person did needs saying so.
	for _, path := range []string{"changed.canvas", "typed.md"} {
		if out := accept(path); out.Code == 0 || !strings.Contains(out.Stderr+out.Stdout, "changed") {
			t.Errorf("accepting over a person's change of %s: %+v", path, out)
		}
	}
	harness.CheckText(t, "canvas changed by a person, still", harness.ReadFile(t, filepath.Join(vault, "changed.canvas")), persons)
	harness.CheckText(t, "note changed by a person, still", harness.ReadFile(t, filepath.Join(vault, "typed.md")), "One. Two.\n")
	decideAnyway(t, s, vault, list, persons)
}

// decideAnyway accepts the one over the person's change, and rejects the other.
func decideAnyway(t *testing.T, s *harness.Sandbox, vault string, list []harness.Suggestion, persons string) {
	t.Helper()
	if out := s.Run(t, "suggestions", "reject", "--yes", harness.IDOf(t, list, "changed.canvas"), vault); out.Code != 0 {
		t.Errorf("reject: %+v", out)
	}
	harness.CheckText(t, "canvas whose proposal was rejected", harness.ReadFile(t, filepath.Join(vault, "changed.canvas")), persons)
	if out := s.Run(t, "suggestions", "accept", "--yes", "--force", harness.IDOf(t, list, "typed.md"), vault); out.Code != 0 {
		t.Errorf("accept --force: %+v", out)
	}
	if _, err := os.Stat(filepath.Join(vault, "typed.md")); !os.IsNotExist(err) {
		t.Errorf("the note that was to be deleted anyway: %v", err)
	}
	if out := s.Run(t, "suggestions", "undo", vault); out.Code != 0 {
		t.Errorf("undo: %+v", out)
	}
	harness.CheckText(t, "note that came back", harness.ReadFile(t, filepath.Join(vault, "typed.md")), "One. Two.\n")
}
