package need

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

const (
	MaxTime  = 100 * time.Millisecond // maximum processor time of a call
	MaxBytes = 64 << 20               // maximum size of the allocations
)

// Call runs fn on this goroutine, and fails the test if it takes more than [MaxTime], scaled, or [MaxBytes]. If the
// system supports it, only this thread's processor time counts. The garbage collector may charge the call for the
// garbage of others, so Call repeats a slow fn, and fails only after three slow runs.
func Call(t testing.TB, input []byte, fn func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fastest := time.Duration(1<<63 - 1)
	for range 3 {
		bytes, start := Allocated(), threadTime()
		fn()
		took := threadTime() - start
		if n := Allocated() - bytes; n > MaxBytes {
			t.Errorf("%x: allocated %d bytes", input, n)
		}
		if fastest = min(fastest, took); fastest <= Scaled(MaxTime) {
			return
		}
	}
	t.Errorf("%x: took %v", input, fastest)
}

// Allocated returns the size of all allocations of the process so far.
func Allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
