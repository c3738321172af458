// Package inflight bounds the memory that is taken by what clients send and what has
// not been dealt with yet: frames and bodies, over all connections together.
package inflight

import (
	"errors"
	"io"
	"sync"
)

const (
	// Default is the size in bytes of a budget that nobody has thought about.
	Default = 256 << 20
	// Free is what each reader has in bytes without asking: as much as its
	// connection takes anyway. So small messages come through in any case.
	Free = 4 << 10
)

// ErrFull says that other messages take all of the budget.
var ErrFull = errors.New("too much is being sent at a time: try again")

// Budget is how many bytes may be under way at a time.
type Budget struct {
	mu   sync.Mutex // protects the following
	left int
}

// New makes a budget of n bytes.
func New(n int) *Budget { return &Budget{left: n} }

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

// Read reads r to its end. What is read counts until release is called, which is not
// nil if and only if err is. Errors: ErrFull, those of r.
func (b *Budget) Read(r io.Reader) (data []byte, release func(), err error) {
	buf, taken := make([]byte, 0, Free), 0
	for {
		if len(buf) == cap(buf) {
			n := cap(buf)
			if !b.take(n) {
				err = ErrFull
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
