package servers

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Programs on the mount of a server's folder are refused names that Windows cannot have
// when they open the file, not when they have written it.
func TestServerNamesForWindows(t *testing.T) {
	t.Parallel()
	g := anyServer(t)
	p := g.person(t)
	p.do("create", map[string]any{"path": "Note.md", "text": "note\n"})
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", "direct")
	dir := filepath.Join(m.Dir, "Team")
	harness.FileBecomes(t, filepath.Join(dir, "Note.md"), "note\n")
	for _, name := range []string{"Why?.md", "pic:1.png"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("create %s: %v, want EINVAL", name, err)
		}
	}
	for what, err := range map[string]error{
		"mkdir":  os.Mkdir(filepath.Join(dir, "nul"), 0o755),
		"rename": os.Rename(filepath.Join(dir, "Note.md"), filepath.Join(dir, "con.md")),
	} {
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", what, err)
		}
	}
	scratch := filepath.Join(m.Dir, ".Note.tmp")
	if err := os.WriteFile(scratch, []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(scratch, filepath.Join(dir, "a|b.md")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("save by rename: %v, want EINVAL", err)
	}
}
