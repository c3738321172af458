//go:build linux

package harness

import (
	"os"
	"os/exec"
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

// RequireTools skips where one of the programs is not installed.
func RequireTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Skip(t, "%s is not installed", name)
		}
	}
}

// RequireFUSE skips where nobody can mount.
func RequireFUSE(t *testing.T) {
	t.Helper()
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		Skip(t, "no FUSE: %v", err)
	}
	dev.Close()
	if os.Geteuid() != 0 {
		RequireTools(t, "fusermount3")
	}
}
