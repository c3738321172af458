package tests

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// relayfsBinary is the absolute path of the program under test.
var relayfsBinary string

func TestMain(m *testing.M) {
	// Under nohup SIGHUP is ignored, also by what is started here: a handler ends that.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	if relayfsBinary = os.Getenv("RELAYFS_BINARY"); relayfsBinary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "relayfs-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Other users must be able to run it: one test drops root's rights.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	relayfsBinary = filepath.Join(dir, "relayfs")
	args := []string{"build", "-o", relayfsBinary}
	if os.Getenv("RELAYFS_RACE") == "1" {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/relayfs")...)
	build.Dir = ".."
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "build relayfs: %v\n", err)
		return 1
	}
	return m.Run()
}

// skip skips for want of something on this machine, which CI must have.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must have everything: "+format, args...)
	}
	t.Skipf(format, args...)
}

func requireTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			skip(t, "%s is not installed", name)
		}
	}
}

func requireFUSE(t *testing.T) {
	t.Helper()
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		skip(t, "no FUSE: %v", err)
	}
	dev.Close()
	if os.Geteuid() != 0 {
		requireTools(t, "fusermount3")
	}
}

// eventually polls until check returns nil, and fails the test with check's
// last error when it does not within the given time. It returns how long it took.
func eventually(t *testing.T, within time.Duration, check func() error) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		err := check()
		took := time.Since(start)
		if err == nil {
			return took
		}
		if took > within {
			t.Fatalf("still after %v: %v", within, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
