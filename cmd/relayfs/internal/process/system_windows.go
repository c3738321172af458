package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

func DetachedAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
}

// Duplicate does nothing: a detached process has no terminal to keep open.
func Duplicate(int, int) {}

// CheckAccess returns an error unless a directory can be listed. Windows has no simple check for writing.
func CheckAccess(dir string) error {
	_, err := os.ReadDir(dir)
	return err
}

func FreeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	return free, err
}
