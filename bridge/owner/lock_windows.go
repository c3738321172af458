package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func Ended(pid int) bool {
	const stillActive = 259
	var code uint32
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(h)
	return windows.GetExitCodeProcess(h, &code) == nil && code != stillActive
}

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
