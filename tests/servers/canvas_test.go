package servers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A canvas of a server is a file on the mount with Obsidian's bytes, which follows what a person
// does in it. An agent's change of it reaches the person's program.
func TestServerCanvas(t *testing.T) {
	t.Parallel()
	g := anyServer(t)
	p := g.person(t)
	node := func(id, text string) map[string]any {
		return map[string]any{"id": id, "type": "text", "x": 0, "y": 0, "width": 250, "height": 60, "text": text}
	}
	p.do("createCanvas", map[string]any{"path": "Board.canvas", "nodes": []any{node("a", "by a person")}})
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", "direct", "--toolsets", "content", "--approve", "update=auto,create=auto")
	file := filepath.Join(m.Dir, "Team", "Board.canvas")
	text := func(lines ...string) string {
		return "{\n\t\"nodes\":[\n\t\t" + strings.Join(lines, ",\n\t\t") + "\n\t],\n\t\"edges\":[]\n}"
	}
	line := func(id, text string) string {
		return `{"height":60,"id":"` + id + `","type":"text","width":250,"x":0,"y":0,"text":"` + text + `"}` // as they arrived there
	}
	a, b := line("a", "by a person"), line("b", "by a person, too")
	harness.FileBecomes(t, file, text(a))
	p.do("setNode", map[string]any{"path": "Board.canvas", "node": node("b", "by a person, too")})
	harness.FileBecomes(t, file, text(a, b))
	if err := os.WriteFile(file, []byte("{}"), 0o600); !errors.Is(err, syscall.EROFS) {
		t.Errorf("write on the mount: %v, want EROFS", err)
	}

	c := s.MCP(t, g.url+"#Team="+g.folder)
	c.MustCall(t, "get_content", "entity_type", "canvas", "path", "Team/Board.canvas")
	c.MustCall(t, "patch_content", "entity_type", "canvas", "path", "Team/Board.canvas", "old_string", `by a person"`, "new_string", `by an agent"`)
	changed := strings.Replace(text(a, b), `by a person"`, `by an agent"`, 1)
	p.do("awaitCanvas", map[string]any{"path": "Board.canvas", "file": changed})
	harness.FileBecomes(t, file, changed)
	refused := c.Call(t, "replace_content", "entity_type", "canvas", "path", "Team/New.canvas", "content", `{"nodes":[],"metadata":{}}`)
	if !refused.IsError || !strings.Contains(refused.Text, "metadata") {
		t.Errorf("a canvas with metadata: %+v", refused)
	}
}
