package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, maxPercent}, {1 << 20, maxPercent}, {6 << 20, 400}, {24 << 20, 100}, {smallHeapGarbage * 4, largePercent}, {1 << 30, largePercent}} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("percentFor(%d) = %d, want %d", c.live, got, c.want)
		}
	}
}

// TestMemoryGoesBack makes much garbage and sees that the system has it back, without a further collection that
// somebody asked for.
func TestMemoryGoesBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(largePercent))
	const size = 128 << 20
	burst := make([][]byte, size>>20)
	for i := range burst {
		burst[i] = make([]byte, 1<<20)
	}
	held := readHeap()
	if held.objects < size {
		t.Fatalf("objects take %d bytes, want at least %d", held.objects, size)
	}
	runtime.KeepAlive(burst)
	burst = nil
	startTuner(time.Millisecond, 32<<20)
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if u := readHeap(); u.objects+u.free < held.objects-size/2 {
			return
		}
		if time.Now().After(deadline) {
			u := readHeap()
			t.Fatalf("the process has %d bytes of objects and %d free, want less than %d", u.objects, u.free, held.objects-size/2)
		}
	}
}
