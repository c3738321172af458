package doctor

import (
	"os"

	"golang.org/x/sys/windows"
)

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
