package need

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
			for start := threadTime(); threadTime()-start <= Scaled(MaxTime); {
			}
		}, true},
		"waiting": {func() { <-time.After(Scaled(MaxTime)) }, runtime.GOOS != "linux"},
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

func TestScale(t *testing.T) {
	for text, want := range map[string]int{"": 1, "1": 1, "5": 5, "0": 0, "-2": 0, "1.5": 0, "5x": 0} {
		if n, err := parseScale(text); n != want || (err == nil) != (want > 0) {
			t.Errorf("%s=%q: %d, %v, want %d", ScaleEnv, text, n, err, want)
		}
	}
}
