package fusefs

import (
	"testing"
	"time"
)

func TestBufferWrite(t *testing.T) {
	tests := []struct {
		name    string
		have, p string
		off     int64
		want    string
	}{
		{"into nothing", "", "abc", 0, "abc"},
		{"over the start", "hello", "J", 0, "Jello"},
		{"over the end", "hello", "ping", 3, "helping"},
		{"behind a gap", "ab", "c", 4, "ab\x00\x00c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &buffer{data: []byte(tt.have), emptied: true}
			b.writeAt([]byte(tt.p), tt.off)
			if string(b.data) != tt.want || b.emptied {
				t.Errorf("got %q, emptied %v, want %q", b.data, b.emptied, tt.want)
			}
		})
	}
}

// A file that shrinks and grows again shows zeros, not what was there before.
func TestBufferTruncate(t *testing.T) {
	b := &buffer{data: []byte("secret words")}
	b.truncate(3)
	b.truncate(6)
	if got, want := string(b.data), "sec\x00\x00\x00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.truncate(0)
	if !b.emptied {
		t.Error("not emptied by a truncation to nothing")
	}
	b.writeAt([]byte("x"), 5)
	if got, want := string(b.data), "\x00\x00\x00\x00\x00x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBufferDue(t *testing.T) {
	now := time.Now()
	b := &buffer{}
	if b.due() || b.dirty() {
		t.Error("an untouched buffer is due")
	}
	b.truncate(0)
	b.touch(process{}, now)
	if b.due() || !b.dirty() {
		t.Error("a truncation alone is due, or not dirty")
	}
	b.writeAt([]byte("x"), 0)
	b.touch(process{}, now)
	if !b.due() {
		t.Error("data is not due")
	}
	b.kept = b.gen
	if b.due() || b.dirty() {
		t.Error("committed data is due")
	}
}

func TestLater(t *testing.T) {
	now := time.Unix(1000, 500)
	if got := later(now, now.Add(-time.Hour)); !got.Equal(now) {
		t.Errorf("after an old time: %v, want %v", got, now)
	}
	for _, prev := range []time.Time{now, now.Add(time.Hour), now.Add(-time.Microsecond)} {
		if got, want := later(now, prev), prev.Add(time.Millisecond); !got.Equal(want) {
			t.Errorf("after %v: %v, want %v", prev, got, want)
		}
	}
}
