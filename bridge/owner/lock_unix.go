//go:build unix

package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func ended(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
