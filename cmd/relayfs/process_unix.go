//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ended says whether a process has; one that its parent has not asked about yet
// (a zombie) has, too, as far as /proc tells, when its other threads have: until
// then its files are open and its locks held.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	if err != nil || !strings.HasPrefix(rest, "Z") {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}

// newSession lets a process outlive the terminal.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// duplicate makes descriptor to another one of from.
func duplicate(from, to int) { _ = unix.Dup2(from, to) }

// mayUse is nil if a directory can be read and written.
func mayUse(dir string) error {
	if err := unix.Access(dir+"/.", unix.R_OK|unix.X_OK); err != nil {
		return err
	}
	return unix.Access(dir, unix.W_OK)
}

// freeSpace is how many bytes a user may still write to the disk of dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// maxFiles is how many files this process may have open.
func maxFiles() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return limit.Cur
}
