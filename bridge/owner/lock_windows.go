package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// ended returns false. Other systems need it because a child process starts as a copy of its parent and may hold the
// parent's locks. Windows has no such copies.
func ended(int) bool { return false }

// tryLock locks a file until it is closed. Windows cannot lock folders, so two state folders for one vault are not
// detected.
func tryLock(f *os.File) error {
	st, err := f.Stat()
	if err != nil || st.IsDir() {
		return err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
