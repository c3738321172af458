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
// (a zombie) has, too, as far as /proc tells.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold anything
	return err == nil && strings.HasPrefix(rest, "Z")
}

// newSession lets a process outlive the terminal.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// duplicate makes descriptor to another one of from.
func duplicate(from, to int) { _ = unix.Dup2(from, to) }
