package doctor

import (
	"os"

	"golang.org/x/sys/windows"
)

// mayUse returns an error if a directory cannot be listed. Windows tells no more.
func mayUse(dir string) error {
	_, err := os.ReadDir(dir)
	return err
}

func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	}
	return free, err
}
