//go:build unix

package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// DetachedAttr returns attributes for a process that must survive the end of its terminal.
func DetachedAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func Duplicate(from, to int) { _ = unix.Dup2(from, to) }

func CheckAccess(dir string) error {
	if err := unix.Access(dir+"/.", unix.R_OK|unix.X_OK); err != nil {
		return err
	}
	return unix.Access(dir, unix.W_OK)
}

// FreeSpace returns the number of bytes that the user can still write to the disk of dir.
func FreeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return uint64(st.Bavail) * uint64(st.Bsize), err
}
