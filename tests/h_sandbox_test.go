package tests

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
)

// sandbox is a directory in which relayfs runs as for a new user.
type sandbox struct {
	dir    string
	env    []string
	binary string // the program under test
}

func newSandbox(t *testing.T) *sandbox {
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
	s := &sandbox{dir: dir, binary: binaryPath(t)}
	s.env = append(os.Environ(), "HOME="+s.path("home"), "TERM=dumb")
	for _, name := range []string{"STATE_HOME", "CONFIG_HOME", "DATA_HOME", "CACHE_HOME", "RUNTIME_DIR"} {
		s.env = append(s.env, "XDG_"+name+"="+s.mkdir(t, "xdg", strings.ToLower(name)))
	}
	return s
}

func (s *sandbox) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *sandbox) mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := s.path(elem...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command returns relayfs with args, to be run in the sandbox.
func (s *sandbox) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = s.env
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = limittest.Scaled(10 * time.Second)
	return cmd
}

// run runs relayfs to its end.
func (s *sandbox) run(t *testing.T, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	return runCommand(t, s.command(ctx, args...))
}
