package queue

import (
	"context"
	"sync"
	"time"
)

// changesWait bounds how long an answer to "has anything changed" is held back,
// so that a connection that broke unnoticed is not waited on for ever.
const changesWait = 25 * time.Second

// changeCounter counts changes and lets others wait for the next one.
type changeCounter struct {
	mu   sync.Mutex // protects the following
	n    uint64
	next chan struct{} // closed by the next change
}

// newChangeCounter starts at a number that no counter of an earlier process has been
// at: who waited with that one is told of what it missed.
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

// wait returns the count as soon as it is not seen, or after changesWait.
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
