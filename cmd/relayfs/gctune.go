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
	smallHeapGarbage = 24 << 20        // bytes of garbage that a small heap may hold
	largePercent     = 33              // garbage that a large heap may hold, in percent of its live bytes
	maxPercent       = 800             // upper limit of the percentage for debug.SetGCPercent
	quietTime        = 5 * time.Second // time without a collection after which unused memory is released
	minRelease       = 32 << 20        // minimum number of unused bytes to release
)

// tuneHeap adapts the garbage collector to a server that is idle between bursts of work, unless the user has set GOGC.
// With Go's default, a heap doubles between collections. Then a small heap would be collected every few saves, and a
// large heap would keep the memory that a search of all notes needed.
func tuneHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(maxPercent)
		startTuner(quietTime, minRelease)
	}
}

type tuner struct {
	minRelease uint64
	timer      *time.Timer // calls release after quietTime without a collection
	mu         sync.Mutex  // guards the fields below
	percent    int
}

func startTuner(quiet time.Duration, worth uint64) {
	t := &tuner{minRelease: worth}
	t.timer = time.AfterFunc(quiet, t.release)
	t.awaitCollection(quiet)
}

// awaitCollection adapts the percentage after each collection. The collection frees token, whose cleanup then runs.
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

func percentFor(live uint64) int {
	return int(min(max(100*smallHeapGarbage/max(live, 1), largePercent), maxPercent))
}

func (t *tuner) release() {
	if u := readHeap(); u.free+u.objects > u.live+t.minRelease {
		debug.FreeOSMemory()
	}
}

type heapSizes struct {
	live    uint64 // bytes of the objects that were in use at the last collection
	objects uint64 // bytes of all objects, including garbage
	free    uint64 // unused bytes for objects
}

func readHeap() heapSizes {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return heapSizes{s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()}
}
