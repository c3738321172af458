package need

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// The limits of one call on up to 4 KiB of input.
const (
	MaxTime  = 100 * time.Millisecond // of one processor
	MaxBytes = 64 << 20               // allocated
)

// Call runs fn, which must do its work on the goroutine that calls it, and
// fails the test if that took more than [MaxTime], scaled, or [MaxBytes]; input is named
// in the message. What other threads do meanwhile, and how long the call had to
// wait for a processor, does not count, where the system tells them apart. Since
// the garbage collector may still make the call pay for the garbage of others,
// fn has to be slow three times in a row.
func Call(t testing.TB, input []byte, fn func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fastest := time.Duration(1<<63 - 1)
	for range 3 {
		bytes, start := allocated(), threadTime()
		fn()
		took := threadTime() - start
		if n := allocated() - bytes; n > MaxBytes {
			t.Errorf("%x: allocated %d bytes", input, n)
		}
		if fastest = min(fastest, took); fastest <= Scaled(MaxTime) {
			return
		}
	}
	t.Errorf("%x: took %v", input, fastest)
}

// allocated returns how many bytes the program has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
