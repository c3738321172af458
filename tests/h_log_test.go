package tests

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

// watchedLog keeps what a process writes and tells when a text appears in it.
type watchedLog struct {
	mu   sync.Mutex // protects the following
	buf  bytes.Buffer
	want map[string]chan struct{}
}

var _ io.Writer = (*watchedLog)(nil)

func newWatchedLog() *watchedLog { return &watchedLog{want: make(map[string]chan struct{})} }

func (l *watchedLog) Write(p []byte) (int, error) {
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

// seen returns a channel that is closed once text has been written.
func (l *watchedLog) seen(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	ch := make(chan struct{})
	if bytes.Contains(l.buf.Bytes(), []byte(text)) {
		close(ch)
	} else {
		l.want[text] = ch
	}
	return ch
}

// says checks that a text is in the log, in which it may be a moment after what it is
// about.
func (l *watchedLog) says(t *testing.T, text string) {
	t.Helper()
	select {
	case <-l.seen(text):
	case <-time.After(startTimeout):
		t.Errorf("the log does not say %q:\n%s", text, l)
	}
}

func (l *watchedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
