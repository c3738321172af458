//go:build unix

package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file or a folder for as long as it is open.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
