package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// newSession lets a process outlive the terminal.
func newSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
}

// duplicate does nothing: a detached process has no terminal to keep open.
func duplicate(int, int) {}
