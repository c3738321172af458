package program

import (
	"sync"

	"golang.org/x/sys/unix"
)

// pidfsMagic is the type of the file system of pidfds, of which each has a number of its own.
const pidfsMagic = 0x50494446

var hasSerials = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == pidfsMagic
})

// identityOf returns the identity of the process that has a number now.
func identityOf(pid int) Identity {
	id := Identity{PID: pid}
	if !hasSerials() {
		return id
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return id // it is gone
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		id.Serial = st.Ino
	}
	return id
}
