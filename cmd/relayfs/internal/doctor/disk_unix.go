//go:build unix

package doctor

import (
	"golang.org/x/sys/unix"
)

// mayUse returns an error if a directory cannot be read and written.
func mayUse(dir string) error {
	if err := unix.Access(dir+"/.", unix.R_OK|unix.X_OK); err != nil {
		return err
	}
	return unix.Access(dir, unix.W_OK)
}

func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
