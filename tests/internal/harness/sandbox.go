//go:build linux

package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

type Sandbox struct {
	Dir    string
	Env    []string
	Binary string // the program under test
}

func NewSandbox(t *testing.T) *Sandbox {
	t.Helper()
	// Not t.TempDir: its long path would not fit a Unix socket's address.
	dir, err := os.MkdirTemp("", "relayfs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := &Sandbox{Dir: dir, Binary: Binary(t)}
	s.Env = append(os.Environ(), "HOME="+s.Path("home"), "TERM=dumb")
	for _, name := range []string{"STATE_HOME", "CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "RUNTIME_DIR"} {
		s.Env = append(s.Env, "XDG_"+name+"="+s.Mkdir(t, "xdg", strings.ToLower(name)))
	}
	return s
}

func (s *Sandbox) Path(elem ...string) string {
	return filepath.Join(append([]string{s.Dir}, elem...)...)
}

func (s *Sandbox) Mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := s.Path(elem...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Command returns relayfs with args in the sandbox. Args of the form RELAYFS_X=VALUE are settings for its environment.
func (s *Sandbox) Command(ctx context.Context, args ...string) *exec.Cmd {
	isSetting := func(arg string) bool { return strings.HasPrefix(arg, "RELAYFS_") && strings.Contains(arg, "=") }
	words := slices.DeleteFunc(slices.Clone(args), isSetting)
	cmd := exec.CommandContext(ctx, s.Binary, words...)
	cmd.Env = append(slices.Clip(s.Env), slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !isSetting(arg) })...)
	cmd.Dir = s.Dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = need.Scaled(10 * time.Second)
	return cmd
}

func (s *Sandbox) Run(t *testing.T, args ...string) Output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), StartTimeout)
	defer cancel()
	return RunCommand(t, s.Command(ctx, args...))
}
