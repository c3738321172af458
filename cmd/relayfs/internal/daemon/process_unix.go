//go:build unix

package daemon

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// newSession lets a process outlive the terminal.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func duplicate(from, to int) { _ = unix.Dup2(from, to) }
