package socket

import (
	"sync"

	"github.com/relayfs/relayfs/bridge/wake"
)

// backlog is the queue of frames for one client, bounded by their number and their bytes.
// The frame that exceeds the bound in bytes still fits: a note is sent whole.
type backlog struct {
	maxFrames, maxBytes int
	filled              wake.Signal // there may be frames
	drained             wake.Signal // there may be room

	mu     sync.Mutex // protects the following
	frames [][]byte
	count  int // of frames, including those that are being written
	bytes  int // of these
}

func newBacklog(maxFrames, maxBytes int) *backlog {
	return &backlog{maxFrames: maxFrames, maxBytes: maxBytes, filled: wake.New(), drained: wake.New()}
}

// put adds a frame; ok is false if there is no room for it.
func (b *backlog) put(frame []byte) (ok bool) { return b.putWithin(frame, b.maxFrames, b.maxBytes) }

// offer adds a frame if less than half of the room is taken. The other half is for frames
// that the client did not request.
func (b *backlog) offer(frame []byte) (ok bool) {
	return b.putWithin(frame, (b.maxFrames+1)/2, (b.maxBytes+1)/2)
}

func (b *backlog) putWithin(frame []byte, maxFrames, maxBytes int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count >= maxFrames || b.bytes >= maxBytes {
		return false
	}
	b.frames = append(b.frames, frame)
	b.count++
	b.bytes += len(frame)
	b.filled.Set()
	return true
}

// take returns the frames to write. Each counts until written is called.
func (b *backlog) take() [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	frames := b.frames
	b.frames = nil
	return frames
}

func (b *backlog) written(frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count--
	b.bytes -= len(frame)
	b.drained.Set()
}

func (b *backlog) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count > 0
}
