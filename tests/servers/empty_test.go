package servers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A note of a server that nobody has written to is an empty file, and a save fills it.
func TestServerEmptyNote(t *testing.T) {
	t.Parallel()
	g := anyServer(t)
	p := g.person(t)
	p.do("raw", map[string]any{"map": "docs", "key": "/Empty.md", "value": "e37"})
	p.raw("Empty.md", map[string]any{"id": "e37", "type": "markdown", "version": 0})
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", "direct")
	note := filepath.Join(m.Dir, "Team", "Empty.md")
	harness.FileBecomes(t, note, "")
	if info, err := os.Stat(note); err != nil || info.Size() != 0 {
		t.Errorf("stat: %v, %v", info, err)
	}
	if err := os.WriteFile(note, []byte("filled\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.do("awaitText", map[string]any{"path": "Empty.md", "text": "filled\n"})
}
