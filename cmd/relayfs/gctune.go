package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	gcPercent    = 50          // Go's default of 100 keeps more garbage and saves hardly any time
	releaseEvery = time.Minute // interval between looks at the unused memory
	minRelease   = 32 << 20    // minimum number of unused bytes to release
)

// tuneHeap makes a server that is idle between bursts of work return memory to the system, unless the user has set GOGC.
// Go itself would keep the memory that a search of all notes needed.
func tuneHeap() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	go func() {
		for range time.Tick(releaseEvery) {
			releaseUnused()
		}
	}()
}

func releaseUnused() {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	if live, objects, free := s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64(); objects+free > live+minRelease {
		debug.FreeOSMemory()
	}
}
