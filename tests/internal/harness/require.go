//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

// RequireCached returns the path of a file that tests/scripts/deps.sh creates or fetches.
func RequireCached(t *testing.T, elem ...string) string {
	t.Helper()
	need.Full(t, "tests/scripts/deps.sh makes what it needs")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(append([]string{cache, "relayfs-tests"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		need.Missing(t, "tests/scripts/deps.sh makes it: %v", err)
	}
	return path
}

func RequireFUSE(t *testing.T) {
	t.Helper()
	need.Full(t, "it needs FUSE")
	dev, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		need.Missing(t, "no FUSE: %v", err)
	}
	dev.Close()
	if os.Geteuid() != 0 {
		need.Programs(t, "fusermount3")
	}
}
