package main

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	releaseEvery = time.Minute // interval between looks at the unused memory
	minRelease   = 8 << 20     // minimum number of unused bytes to release
)

// returnMemory makes a server that is idle between bursts of work return memory to the system. Go itself would keep the
// memory that a search of all notes needed.
func returnMemory() {
	for range time.Tick(releaseEvery) {
		releaseUnused()
	}
}

func releaseUnused() {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	if live, objects, free := s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64(); objects+free > live+minRelease {
		debug.FreeOSMemory()
	}
}
