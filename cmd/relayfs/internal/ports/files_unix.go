//go:build unix

package ports

import (
	"golang.org/x/sys/unix"
)

func maxFiles() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return limit.Cur
}
