package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestReleaseUnused(t *testing.T) {
	released := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	large := make([]byte, 4*minRelease)
	before := released()
	runtime.KeepAlive(large)
	runtime.GC() // a collection during the allocation counts it as live
	releaseUnused()
	if now := released(); now < before+2*minRelease {
		t.Errorf("%d MB are released, %d MB before", now>>20, before>>20)
	}
}
