package fusefs

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What depends on the system: here the kernel is told of every change, and may
// keep what it knows.

// cacheTimeout is how long the kernel may keep attributes and names. It is told
// about every change, so this only bounds what a lost notification could do.
const cacheTimeout = time.Hour

// keepCaches says that the kernel may keep pages and listings.
const keepCaches = true

const (
	detachFlag   = unix.MNT_DETACH
	unmountFlags = unix.UMOUNT_NOFOLLOW
)

func checkDevice() error {
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist):
		return &SetupError{
			Problem: "/dev/fuse does not exist",
			Hint:    "load the kernel's module with `modprobe fuse`, or give the container --device /dev/fuse --cap-add SYS_ADMIN",
		}
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return &SetupError{Problem: "the kernel has no FUSE", Hint: "load its module with `modprobe fuse`", Err: err}
	default:
		return &SetupError{
			Problem: "/dev/fuse cannot be opened",
			Hint:    "run as a user who may read and write /dev/fuse (mode 0666 on most systems, or a group named fuse)",
			Err:     err,
		}
	}
}

// checkHelper looks for the setuid program by which everybody but root mounts.
func checkHelper() error {
	if os.Geteuid() == 0 {
		return nil
	}
	if _, err := exec.LookPath(helper); err != nil {
		return &SetupError{Problem: helper + " is not in PATH", Hint: "install the package fuse3 (apt install fuse3, dnf install fuse3)"}
	}
	return nil
}
