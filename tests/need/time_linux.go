package need

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime returns the processor time of this thread. It reads the thread's clock, because getrusage counts whole
// ticks on some systems.
func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID, which package syscall lacks
	var used syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&used)), 0); errno != 0 {
		panic(errno) // it fails only for invalid arguments
	}
	return time.Duration(used.Nano())
}
