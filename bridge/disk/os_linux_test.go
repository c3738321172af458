package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/disk"
)

// TestOrdersNames compares with the threads of journals, which the kernel lists elsewhere.
func TestOrdersNames(t *testing.T) {
	if got := ordersNames(t, "/dev/shm"); !got {
		t.Error("memory does not order names")
	}
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Type != unix.EXT4_SUPER_MAGIC {
		return
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if fields[2] != fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)) {
			continue
		}
		_, source, _ := strings.Cut(line, " - ext4 ")
		device, _, _ := strings.Cut(source, " ")
		if resolved, err := filepath.EvalSymlinks(device); err == nil {
			device = resolved
		}
		journals, err := filepath.Glob(filepath.Join("/proc/fs/jbd2", filepath.Base(device)+"-*"))
		if got, want := ordersNames(t, dir), len(journals) > 0; err != nil || got != want {
			t.Errorf("%s on %s: orders names %v, journals %v", dir, device, got, journals)
		}
		return
	}
}

func ordersNames(t *testing.T, path string) bool {
	t.Helper()
	dir, err := disk.OS{}.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	return dir.OrdersNames()
}
