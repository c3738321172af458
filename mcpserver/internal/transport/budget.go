package transport

import (
	"errors"
	"io"
	"sync"
)

const (
	DefaultBudget = 256 << 20
	// FreeBytes per reader do not count against the budget, so that small messages always pass.
	FreeBytes = 4 << 10
)

var ErrBudget = errors.New("too much is being sent at a time; try again")

// Budget limits the memory of messages that are being received or processed, over all connections.
type Budget struct {
	mu   sync.Mutex // guards the fields below
	size int
	left int
}

func NewBudget(n int) *Budget { return &Budget{size: n, left: n} }

func (b *Budget) Taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size - b.left
}

func (b *Budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *Budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// Read reads r to its end. The data counts until release is called; release is nil on error. Errors: ErrBudget, those
// of r.
func (b *Budget) Read(r io.Reader) (data []byte, release func(), err error) {
	buf, taken := make([]byte, 0, FreeBytes), 0
	for {
		if len(buf) == cap(buf) {
			n := cap(buf)
			if !b.take(n) {
				err = ErrBudget
				break
			}
			taken += n
			larger := make([]byte, len(buf), 2*n)
			copy(larger, buf)
			buf = larger
		}
		n, failed := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if failed == io.EOF {
			return buf, func() { b.give(taken) }, nil
		}
		if failed != nil {
			err = failed
			break
		}
	}
	b.give(taken)
	return nil, nil, err
}
