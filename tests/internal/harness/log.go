//go:build linux

package harness

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

// Log records the output of a process and reports when a text appears in it.
type Log struct {
	mu   sync.Mutex // guards the fields below
	buf  bytes.Buffer
	want map[string]chan struct{}
}

var _ io.Writer = (*Log)(nil)

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

func (l *Log) Says(t *testing.T, text string) {
	t.Helper()
	select {
	case <-l.Seen(text):
	case <-time.After(StartTimeout):
		t.Errorf("the log does not say %q:\n%s", text, l)
	}
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
