package model

import "context"

// Signal wakes the goroutine that receives from it, even if Set was called before the goroutine waits. Several calls of
// Set before it receives wake it only once.
type Signal chan struct{}

func NewSignal() Signal { return make(Signal, 1) }

// Set wakes the receiver. It does not block.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Each yields whenever the signal is set, until ctx ends.
func (s Signal) Each(ctx context.Context) func(yield func() bool) {
	return func(yield func() bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s:
			}
			if !yield() {
				return
			}
		}
	}
}
