package need

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime returns the processor time that this thread has used. It is read from
// the thread's clock, since getrusage counts whole ticks on some systems.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID, which package syscall leaves out
	var used syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&used)), 0); errno != 0 {
		panic(errno) // it fails for bad arguments only
	}
	return time.Duration(used.Nano())
}
