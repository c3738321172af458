package queue

import (
	"context"
	"sync"
	"time"
)

// changesWait bounds how long Changed waits, so that nobody waits for ever on a connection that broke
// unnoticed.
const changesWait = 25 * time.Second

// changeCounter counts changes and waits for the next one.
type changeCounter struct {
	mu   sync.Mutex // protects the following
	n    uint64
	next chan struct{} // closed by the next change
}

// newChangeCounter starts at a number that no counter of an earlier process has reached, so that a client of
// that one is told that it missed changes.
func newChangeCounter() *changeCounter {
	return &changeCounter{n: uint64(time.Now().UnixMicro()), next: make(chan struct{})}
}

func (c *changeCounter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	close(c.next)
	c.next = make(chan struct{})
}

// wait returns the count when it differs from seen, or after changesWait.
func (c *changeCounter) wait(ctx context.Context, seen uint64) (uint64, error) {
	c.mu.Lock()
	n, next := c.n, c.next
	c.mu.Unlock()
	if n != seen {
		return n, nil
	}
	timer := time.NewTimer(changesWait)
	defer timer.Stop()
	select {
	case <-next:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.n, nil
	case <-timer.C:
		return n, nil
	case <-ctx.Done():
		return n, ctx.Err()
	}
}
