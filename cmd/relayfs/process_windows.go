package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ended says whether a process has.
func ended(pid int) bool {
	const stillActive = 259
	var code uint32
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(h)
	return windows.GetExitCodeProcess(h, &code) == nil && code != stillActive
}

// newSession lets a process outlive the terminal.
func newSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
}

// duplicate does nothing: a detached process has no terminal to keep open.
func duplicate(int, int) {}

// mayUse is nil if a directory can be listed; more is not known.
func mayUse(dir string) error {
	_, err := os.ReadDir(dir)
	return err
}

// freeSpace is how many bytes a user may still write to the disk of dir.
func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	return free, err
}

// maxFiles is how many files this process may have open: there is no limit that
// it would reach.
func maxFiles() uint64 { return 1 << 20 }
