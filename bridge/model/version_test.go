package model

import (
	"testing"
	"time"
)

func TestNextModTime(t *testing.T) {
	now := time.Unix(1000, 500)
	if got := NextModTime(now.Add(-time.Hour), now); !got.Equal(now) {
		t.Errorf("after an old time: %v, want %v", got, now)
	}
	for _, prev := range []time.Time{now, now.Add(time.Hour), now.Add(-time.Microsecond)} {
		if got, want := NextModTime(prev, now), prev.Add(time.Millisecond); !got.Equal(want) {
			t.Errorf("after %v: %v, want %v", prev, got, want)
		}
	}
}
