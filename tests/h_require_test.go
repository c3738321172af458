package tests

import (
	"os"
	"os/exec"
	"testing"
)

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
