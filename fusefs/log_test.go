package fusefs_test

import (
	"bytes"
	"log/slog"
	"sync"
)

// syncBuffer is a log that several goroutines write and tests read.
type syncBuffer struct {
	mu  sync.Mutex // protects the following
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *syncBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }
