//go:build unix

package owner

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Ended reports whether a process has ended. A zombie counts as ended only when its other threads have ended, because
// until then its files are open and its locks are held.
func Ended(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) { // EPERM means that another user's process lives
		return true
	}
	if stateOf(pid) != "Z" {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
