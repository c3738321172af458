package save

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

func checkMode(t *testing.T, what, name string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Error(err)
		return
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has %v, want %v", what, got, want)
	}
}

// In direct mode permissions that are set on the mount are those of the vault's file,
// and are there after the next mount.
func TestChmodReachesTheVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "one\n", "Picked/In.md": "in\n", "picture.png": "png"})
	m := s.Mount(t, vault, "--mode", "direct")
	for _, name := range []string{"Note.md", "Picked/In.md", "picture.png"} {
		if err := os.Chmod(m.Path(name), 0o640); err != nil {
			t.Error(err)
		}
		checkMode(t, name+" on the mount", m.Path(name), 0o640)
		checkMode(t, name+" in the vault", m.VaultPath(name), 0o640)
	}
	if err := os.Chmod(m.Path("Picked"), 0o750); err != nil {
		t.Error(err)
	}
	checkMode(t, "a folder in the vault", m.VaultPath("Picked"), 0o750)
	if err := os.WriteFile(m.Path("Note.md"), []byte("two\n"), 0); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(m.Path("New.md"), []byte("new\n"), 0o600); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.WriteFile(m.Path("x.tmp"), []byte("three\n"), 0o666), os.Chmod(m.Path("x.tmp"), 0o640)); err != nil {
		t.Error(err)
	}
	if err := os.Rename(m.Path("x.tmp"), m.Path("Note.md")); err != nil {
		t.Error(err)
	}
	m.Stop(t)
	m = s.MountAt(t, vault, s.Mkdir(t, "again"), "--mode", "direct")
	for name, want := range map[string]fs.FileMode{"Note.md": 0o640, "Picked/In.md": 0o640, "picture.png": 0o640, "New.md": 0o600} {
		checkMode(t, name+" in the vault", m.VaultPath(name), want)
		checkMode(t, name+" after the next mount", m.Path(name), want)
	}
}

// In suggest mode what would not be kept is refused and not shown; what changes nothing
// succeeds, as programs do it when they save.
func TestChmodInSuggestMode(t *testing.T) {
	t.Parallel()
	need.Programs(t, "cp", "sh")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Note.md": "one\n", "picture.png": "png"}))
	for _, name := range []string{"Note.md", "picture.png"} {
		if err := os.Chmod(m.Path(name), 0o600); !errors.Is(err, syscall.EPERM) {
			t.Errorf("chmod of %s: %v, want %v", name, err, syscall.EPERM)
		}
		checkMode(t, name, m.Path(name), 0o644)
		checkMode(t, name+" in the vault", m.VaultPath(name), 0o644)
		if err := os.Chmod(m.Path(name), 0o644); err != nil {
			t.Errorf("chmod of %s to what it has: %v", name, err)
		}
	}
	m.Log.Says(t, "--mode direct")
	cmd := exec.Command("sh", "-c", "echo two > x.md && chmod 600 x.md && echo three > y.tmp && chmod 644 y.tmp && cp -p y.tmp Note.md")
	cmd.Dir = filepath.Dir(m.Path("Note.md"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("cp -p: %v: %s", err, out)
	}
	checkMode(t, "a new note in the vault", m.VaultPath("x.md"), 0o600)
}

// Access rights of the vault's file outlast a suggestion.
func TestFileModeIsKept(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	if err := os.Chmod(m.VaultPath("note.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	harness.Shell(`sed -i s/six/seven/ note.md`)(t, m.Path(""))
	if got := statFile(t, m.VaultPath("note.md")).Mode.Perm(); got != 0o640 {
		t.Errorf("mode is %o, want 640", got)
	}
}
