//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
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

func MaxFiles() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return limit.Cur
}

// Ended reports whether a process has ended. A zombie counts as ended only when its other threads have ended, because
// until then its files are open and its locks are held.
func Ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) { // EPERM means that another user's process lives
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the program's name, which is before ") ", may contain any character
	if err != nil || !strings.HasPrefix(rest, "Z") {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}
