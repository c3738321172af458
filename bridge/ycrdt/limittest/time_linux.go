package limittest

import (
	"syscall"
	"time"
)

// threadTime returns the processor time that this thread has used.
func threadTime() time.Duration {
	const rusageThread = 1 // RUSAGE_THREAD, which package syscall leaves out
	var used syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &used); err != nil {
		panic(err) // it fails for bad arguments only
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
