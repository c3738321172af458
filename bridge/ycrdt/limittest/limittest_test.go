package limittest

import (
	"runtime"
	"testing"
	"time"
)

// A recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestCall(t *testing.T) {
	var kept []byte
	for name, c := range map[string]struct {
		fn     func()
		failed bool
	}{
		"little": {func() {}, false},
		"memory": {func() { kept = make([]byte, MaxBytes+1) }, true},
		"time": {func() {
			for start := threadTime(); threadTime()-start <= MaxTime; {
			}
		}, true},
		"waiting": {func() { <-time.After(MaxTime) }, runtime.GOOS != "linux"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			Call(r, nil, c.fn)
			if r.failed != c.failed {
				t.Errorf("failed is %v, want %v", r.failed, c.failed)
			}
		})
	}
	if len(kept) == 0 {
		t.Error("nothing was allocated")
	}
}
