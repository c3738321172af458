//go:build linux

package harness

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

// Log keeps what a process writes and tells when a text appears in it.
type Log struct {
	mu   sync.Mutex // protects the following
	buf  bytes.Buffer
	want map[string]chan struct{}
}

var _ io.Writer = (*Log)(nil)

// NewLog makes an empty one.
func NewLog() *Log { return &Log{want: make(map[string]chan struct{})} }

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Write(p)
	for text, ch := range l.want {
		if bytes.Contains(l.buf.Bytes(), []byte(text)) {
			close(ch)
			delete(l.want, text)
		}
	}
	return len(p), nil
}

// Seen returns a channel that is closed once text has been written.
func (l *Log) Seen(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ch := l.want[text]; ch != nil {
		return ch
	}
	ch := make(chan struct{})
	if bytes.Contains(l.buf.Bytes(), []byte(text)) {
		close(ch)
	} else {
		l.want[text] = ch
	}
	return ch
}

// Says checks that a text is in the log, in which it may be a moment after what it is
// about.
func (l *Log) Says(t *testing.T, text string) {
	t.Helper()
	select {
	case <-l.Seen(text):
	case <-time.After(StartTimeout):
		t.Errorf("the log does not say %q:\n%s", text, l)
	}
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
