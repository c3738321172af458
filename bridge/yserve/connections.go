package yserve

import "sync"

type connections struct {
	mu     sync.Mutex // protects the following
	count  [2]int     // by kind
	closed bool
	active sync.WaitGroup // Add with mu, while closed is not set
}

type kind int

const (
	client   kind = iota // limited by Limits.Connections
	stranger             // has opened no document yet; limited by Limits.Strangers
)

// enter counts a connection, unless there are limit of its kind; leave ends it.
func (c *connections) enter(k kind, limit int) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.count[k] >= limit {
		return false
	}
	c.count[k]++
	c.active.Add(1)
	return true
}

func (c *connections) leave(k kind) {
	c.mu.Lock()
	c.count[k]--
	c.mu.Unlock()
	c.active.Done()
}

// close makes enter fail, and waits until the last connection has left.
func (c *connections) close(stop func()) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	stop()
	c.active.Wait()
}
