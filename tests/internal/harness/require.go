//go:build linux

package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Skip skips for want of something on this machine, which CI must have.
func Skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must have everything: "+format, args...)
	}
	t.Skipf(format, args...)
}

// RequireFull skips unless RELAYFS_TESTS=all is set, as `make test` does. A test that needs FUSE, Node, a server or
// another program calls it, directly or through the other Require functions: plain `go test ./...` needs Go alone.
func RequireFull(t *testing.T) {
	t.Helper()
	if !full() {
		t.Skip(runsInFull)
	}
}

func full() bool { return os.Getenv("RELAYFS_TESTS") == "all" }

const runsInFull = "make test runs it"

// RequireTools skips where one of the programs is not installed.
func RequireTools(t *testing.T, names ...string) {
	t.Helper()
	RequireFull(t)
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Skip(t, "%s is not installed", name)
		}
	}
}

// RequireCached returns the path of something that tests/scripts/deps.sh makes or fetches once.
func RequireCached(t *testing.T, elem ...string) string {
	t.Helper()
	RequireFull(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(append([]string{cache, "relayfs-tests"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		Skip(t, "tests/scripts/deps.sh makes it: %v", err)
	}
	return path
}

// RequireFUSE skips where nobody can mount.
func RequireFUSE(t *testing.T) {
	t.Helper()
	RequireFull(t)
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		Skip(t, "no FUSE: %v", err)
	}
	dev.Close()
	if os.Geteuid() != 0 {
		RequireTools(t, "fusermount3")
	}
}
