//go:build linux

package harness

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

// SmallDisk is a disk in memory that can be filled.
type SmallDisk struct{ Dir string }

// SmallDisk mounts a disk at DIR/disk of the sandbox. size is as tmpfs(5) takes it. The test
// is skipped where that is not permitted.
func (s *Sandbox) SmallDisk(t *testing.T, size string) SmallDisk {
	t.Helper()
	need.Full(t, "it mounts a disk")
	d := SmallDisk{s.Mkdir(t, "disk")}
	if err := syscall.Mount("relayfs-test", d.Dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d SmallDisk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill takes all of the room. What is free when a file goes is taken by calling it again.
func (d SmallDisk) Fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
}

// Drain gives the room back.
func (d SmallDisk) Drain(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		t.Fatal(err)
	}
}
