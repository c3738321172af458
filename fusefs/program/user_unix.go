//go:build unix

package program

import (
	"io/fs"
	"syscall"
)

// userOf returns the user that a file belongs to.
func userOf(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return 0
}
