package mcpproxy

import (
	"errors"
	"io"
	"sync"
)

// pipes are the two directions of a stream within the process. A message is
// written at once, so that the end of writing is never within one.
type pipes struct {
	*io.PipeReader

	mu    sync.Mutex // protects the following
	w     *io.PipeWriter
	ended bool // no more is taken
}

func (p *pipes) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return 0, io.ErrClosedPipe
	}
	return p.w.Write(b)
}

// CloseWrite has the server answer what it was sent, and take no more.
func (p *pipes) CloseWrite() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	return p.w.Close()
}

// Close also ends a Write that waits for the server.
func (p *pipes) Close() error { return errors.Join(p.w.Close(), p.PipeReader.Close()) }
