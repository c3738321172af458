package socket

import "sync"

// backlog is the frames that wait to be written to one client, bounded by their
// number and their bytes. One frame larger than all of the bound still fits when
// it is the first beyond it: a note is sent whole.
type backlog struct {
	maxFrames, maxBytes int
	filled              chan struct{} // holds a token when there may be frames
	drained             chan struct{} // holds a token when there may be room

	mu     sync.Mutex // protects the following
	frames [][]byte
	count  int // of frames, with those that are being written
	bytes  int // of these
}

func newBacklog(maxFrames, maxBytes int) *backlog {
	return &backlog{maxFrames: maxFrames, maxBytes: maxBytes, filled: make(chan struct{}, 1), drained: make(chan struct{}, 1)}
}

// put adds a frame; ok is false if there is no room for it.
func (b *backlog) put(frame []byte) (ok bool) { return b.putWithin(frame, b.maxFrames, b.maxBytes) }

// offer adds a frame if less than half of the room is taken. The other half is
// for what the client has not asked for.
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
	signal(b.filled)
	return true
}

// take returns the frames to write. They count until written is told of each.
func (b *backlog) take() [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	frames := b.frames
	b.frames = nil
	return frames
}

// written makes room: a frame has left.
func (b *backlog) written(frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count--
	b.bytes -= len(frame)
	signal(b.drained)
}

// busy says whether something waits or is being written.
func (b *backlog) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count > 0
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
