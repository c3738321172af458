package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the tools delete_note and replace_content propose waits in the queue, over
// the end of the process; the vault changes when a person accepts, and where the
// file has been changed meanwhile, a person is told.
func TestMCPProposalsThroughTheQueue(t *testing.T) {
	const oldCanvas, newCanvas = "{\n}\n", `{"nodes":[],"edges":[]}`
	files := map[string]string{
		"gone.md": "See nothing.\n", "stays.md": "[[gone]]\n", "typed.md": "One.\n", "link.md": "[[stays]]\n",
		"accepted.canvas": oldCanvas, "rejected.canvas": oldCanvas, "changed.canvas": oldCanvas, "books.base": "views: []\n",
	}
	s := newSandbox(t)
	vault := s.vault(t, "Vault", files)
	client := s.mcp(t, "--toolsets", "notes,content", vault)
	if got := client.mustCall(t, "delete_note", "path", "Vault/gone.md"); !strings.Contains(got, `"status":"proposed","had_backlinks":true,"backlink_count":1`) {
		t.Errorf("delete_note says %s", got)
	}
	client.mustCall(t, "delete_note", "path", "Vault/stays.md")
	client.mustCall(t, "delete_note", "path", "Vault/typed.md")
	for _, name := range []string{"accepted", "rejected", "changed"} {
		client.mustCall(t, "get_content", "entity_type", "canvas", "path", "Vault/"+name+".canvas")
		client.mustCall(t, "replace_content", "entity_type", "canvas", "path", "Vault/"+name+".canvas", "content", newCanvas)
	}
	client.mustCall(t, "replace_content", "entity_type", "base", "path", "Vault/new.base", "content", "views: []\n")
	if got := client.mustCall(t, "get_content", "entity_type", "canvas", "path", "Vault/accepted.canvas"); !strings.Contains(got, "edges") {
		t.Errorf("the writer does not see what it proposed: %s", got)
	}
	client.close(t)
	for name, text := range files {
		checkText(t, name+" before a decision", readFile(t, filepath.Join(vault, name)), text)
	}

	persons := "{\"nodes\": []}\n"
	for name, text := range map[string]string{"changed.canvas": persons, "typed.md": "One. Two.\n"} {
		if err := os.WriteFile(filepath.Join(vault, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := s.suggestions(t, vault)
	accept := func(path string) output {
		return s.run(t, "suggestions", "accept", "--yes", idOf(t, list, path), vault)
	}
	for _, path := range []string{"gone.md", "accepted.canvas", "new.base"} {
		if out := accept(path); out.code != 0 {
			t.Errorf("accept %s: %+v", path, out)
		}
	}
	for _, path := range []string{"stays.md", "rejected.canvas"} {
		if out := s.run(t, "suggestions", "reject", "--yes", idOf(t, list, path), vault); out.code != 0 {
			t.Errorf("reject %s: %+v", path, out)
		}
	}
	if _, err := os.Stat(filepath.Join(vault, "gone.md")); !os.IsNotExist(err) {
		t.Errorf("the deleted note is still there: %v", err)
	}
	checkText(t, "note whose deletion was rejected", readFile(t, filepath.Join(vault, "stays.md")), files["stays.md"])
	checkText(t, "accepted canvas", readFile(t, filepath.Join(vault, "accepted.canvas")), newCanvas)
	checkText(t, "rejected canvas", readFile(t, filepath.Join(vault, "rejected.canvas")), oldCanvas)
	checkText(t, "accepted new base", readFile(t, filepath.Join(vault, "new.base")), "views: []\n")
	checkText(t, "canvas changed by a person", readFile(t, filepath.Join(vault, "changed.canvas")), persons)
	// Accepting over what the person did needs saying so.
	for _, path := range []string{"changed.canvas", "typed.md"} {
		if out := accept(path); out.code == 0 || !strings.Contains(out.stderr+out.stdout, "changed") {
			t.Errorf("accepting over a person's change of %s: %+v", path, out)
		}
	}
	checkText(t, "canvas changed by a person, still", readFile(t, filepath.Join(vault, "changed.canvas")), persons)
	checkText(t, "note changed by a person, still", readFile(t, filepath.Join(vault, "typed.md")), "One. Two.\n")
	decideAnyway(t, s, vault, list, persons)
}

// decideAnyway accepts the one over the person's change, and rejects the other.
func decideAnyway(t *testing.T, s *sandbox, vault string, list []suggestion, persons string) {
	t.Helper()
	if out := s.run(t, "suggestions", "reject", "--yes", idOf(t, list, "changed.canvas"), vault); out.code != 0 {
		t.Errorf("reject: %+v", out)
	}
	checkText(t, "canvas whose proposal was rejected", readFile(t, filepath.Join(vault, "changed.canvas")), persons)
	if out := s.run(t, "suggestions", "accept", "--yes", "--force", idOf(t, list, "typed.md"), vault); out.code != 0 {
		t.Errorf("accept --force: %+v", out)
	}
	if _, err := os.Stat(filepath.Join(vault, "typed.md")); !os.IsNotExist(err) {
		t.Errorf("the note that was to be deleted anyway: %v", err)
	}
	if out := s.run(t, "suggestions", "undo", vault); out.code != 0 {
		t.Errorf("undo: %+v", out)
	}
	checkText(t, "note that came back", readFile(t, filepath.Join(vault, "typed.md")), "One. Two.\n")
}
