//go:build linux

package harness

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

type SmallDisk struct{ Dir string }

// SmallDisk mounts a tmpfs at DIR/disk of the sandbox. See tmpfs(5) for size. It skips the test if mounting is not
// permitted.
func (s *Sandbox) SmallDisk(t *testing.T, size string) SmallDisk {
	t.Helper()
	return s.SmallDiskOf(t, "tmpfs", size)
}

// SmallDiskOf mounts a file system of kind "tmpfs", or "ext4" on a loop device.
func (s *Sandbox) SmallDiskOf(t *testing.T, kind, size string) SmallDisk {
	t.Helper()
	need.Full(t, "it mounts a disk")
	d := SmallDisk{s.Mkdir(t, "disk")}
	if kind == "tmpfs" {
		if err := syscall.Mount("relayfs-test", d.Dir, kind, 0, "size="+size); err != nil {
			t.Skipf("tmpfs cannot be mounted: %v", err)
		}
	} else {
		need.Programs(t, "mkfs."+kind, "mount")
		image := s.Path("disk.img")
		for _, args := range [][]string{{"mkfs." + kind, "-q", image, size}, {"mount", "-o", "loop", image, d.Dir}} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s cannot be mounted: %v, %s", kind, err, out)
			}
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d SmallDisk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill uses up the space of the disk. Call it again after removing a file.
func (d SmallDisk) Fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for wrote := true; wrote; { // ext4 frees the blocks of a deleted file when it commits its journal
		if err := f.Sync(); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		wrote = false
		for _, size := range []int{4096, 512} { // less than a block of 4096 bytes may remain
			n, err := 0, error(nil)
			for err == nil {
				n, err = f.Write(make([]byte, size))
				wrote = wrote || n > 0
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
		}
	}
}

func (d SmallDisk) Drain(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Fatal(err)
	}
}

func (d SmallDisk) SetReadOnly(t *testing.T, readOnly bool) {
	t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if readOnly {
		flags |= syscall.MS_RDONLY
	}
	Eventually(t, StartTimeout, func() error { return syscall.Mount("", d.Dir, "", flags, "") }) // fails with EBUSY during a sync
}
