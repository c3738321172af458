//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUs(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}
