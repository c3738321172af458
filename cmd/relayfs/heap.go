package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// smallHeapGarbage is how much garbage a small heap may hold, and largePercent how much a large one may in percent of what is in use:
	// what lives among much garbage keeps the memory around it.
	smallHeapGarbage = 24 << 20
	largePercent     = 33
	maxPercent       = 800
	// quietTime is how long nothing was collected when memory goes back to the system, and worth how much that is
	// at least.
	quietTime  = 5 * time.Second
	minRelease = 32 << 20
)

// tuneHeap has the garbage collector suit a server that is idle between bursts of work, while the process lives and
// unless its user has set GOGC. By Go's own rule a heap may double before it is collected: a small one is collected every
// few saves, and a large one keeps what a search through all notes has taken for good.
func tuneHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(maxPercent)
		startTuner(quietTime, minRelease)
	}
}

// tuner hears of each collection.
type tuner struct {
	minRelease uint64
	timer      *time.Timer // runs while something was collected a moment ago
	mu         sync.Mutex  // protects the following
	percent    int
}

func startTuner(quiet time.Duration, worth uint64) {
	t := &tuner{minRelease: worth}
	t.timer = time.AfterFunc(quiet, t.release)
	t.awaitCollection(quiet)
}

// awaitCollection hears of the next collection: it finds that nobody has the token.
func (t *tuner) awaitCollection(quiet time.Duration) {
	token := new([64]byte)
	runtime.AddCleanup(token, func(t *tuner) {
		t.adapt()
		t.timer.Reset(quiet)
		t.awaitCollection(quiet)
	}, t)
}

func (t *tuner) adapt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if percent := percentFor(readHeap().live); percent != t.percent {
		debug.SetGCPercent(percent)
		t.percent = percent
	}
}

// percentFor is by how much a heap may grow of which so much is in use.
func percentFor(live uint64) int {
	return int(min(max(100*smallHeapGarbage/max(live, 1), largePercent), maxPercent))
}

// release gives memory back that is not in use.
func (t *tuner) release() {
	if u := readHeap(); u.free+u.objects > u.live+t.minRelease {
		debug.FreeOSMemory()
	}
}

// heapSizes is how many bytes of memory the heap has.
type heapSizes struct {
	live    uint64 // of objects that the last collection found in use
	objects uint64 // of these, those made since, and garbage
	free    uint64 // for objects
}

func readHeap() heapSizes {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return heapSizes{s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()}
}
