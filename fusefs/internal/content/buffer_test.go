package content

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/fusefs/internal/program"
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
			b := &Buffer{Data: []byte(tt.have), Truncated: true}
			b.WriteAt([]byte(tt.p), tt.off)
			if string(b.Data) != tt.want || b.Truncated {
				t.Errorf("got %q, emptied %v, want %q", b.Data, b.Truncated, tt.want)
			}
		})
	}
}

// A file that shrinks and grows again shows zeros, not what was there before.
func TestBufferTruncate(t *testing.T) {
	b := &Buffer{Data: []byte("secret words")}
	b.Truncate(3)
	b.Truncate(6)
	if got, want := string(b.Data), "sec\x00\x00\x00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Truncate(0)
	if !b.Truncated {
		t.Error("not emptied by a truncation to nothing")
	}
	b.WriteAt([]byte("x"), 5)
	if got, want := string(b.Data), "\x00\x00\x00\x00\x00x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBufferDue(t *testing.T) {
	now := time.Now()
	b := &Buffer{}
	if b.Due() || b.Dirty() {
		t.Error("an untouched buffer is due")
	}
	b.Truncate(0)
	b.Touch(program.Program{}, now)
	if b.Due() || !b.Dirty() {
		t.Error("a truncation alone is due, or not dirty")
	}
	b.WriteAt([]byte("x"), 0)
	b.Touch(program.Program{}, now)
	if !b.Due() {
		t.Error("data is not due")
	}
	b.CommittedGen = b.Gen
	if b.Due() || b.Dirty() {
		t.Error("committed data is due")
	}
}

// The beginning of a text is not committed while its writer has the note open, because the rest may follow.
func TestBufferWait(t *testing.T) {
	now := time.Now()
	touched := func(change func(*Buffer)) *Buffer {
		b := &Buffer{Data: []byte("one\ntwo\n")}
		change(b)
		b.Touch(program.Program{}, now)
		return b
	}
	rewritten := touched(func(b *Buffer) { b.Truncate(0); b.WriteAt([]byte("on"), 0) })
	overwritten := touched(func(b *Buffer) { b.WriteAt([]byte("on"), 0) })
	inPlace := touched(func(b *Buffer) { b.WriteAt([]byte("T"), 4) })
	emptied := touched(func(b *Buffer) { b.Truncate(0) })
	for _, tt := range []struct {
		name                 string
		b                    *Buffer
		positioned, unstored bool
		want                 time.Duration
	}{
		{"rewritten and open", rewritten, true, false, rewriteGrace},
		{"rewritten", rewritten, false, false, WritebackDelay},
		{"a new note, open", rewritten, true, true, WritebackDelay},
		{"overwritten from the beginning and open", overwritten, true, false, rewriteGrace},
		{"changed in place and open", inPlace, true, false, WritebackDelay},
		{"emptied", emptied, false, false, rewriteGrace},
		{"a new note, empty", emptied, false, true, newGrace},
	} {
		if wait, due := tt.b.Wait(now, tt.positioned, tt.unstored); wait != tt.want || !due {
			t.Errorf("%s: got %v, due %v, want %v", tt.name, wait, due, tt.want)
		}
	}
	if _, due := emptied.Wait(now, true, false); due {
		t.Error("emptied and open: due")
	}
}
