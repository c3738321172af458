//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// inodeOf returns the device and inode of a file, or zeros if unknown.
func inodeOf(st fs.FileInfo) (device, inode uint64) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(sys.Dev), sys.Ino
}

func ownedByUs(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}
