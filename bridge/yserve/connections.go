package yserve

import "sync"

// connections counts the websockets that there are.
type connections struct {
	mu     sync.Mutex // protects the following
	known  int        // that count for Limits.Connections
	guests int        // that count for Limits.Strangers
	closed bool
	active sync.WaitGroup // Add under mu while closed is not set
}

// enter counts a connection; leave ends it. ok is false if there are limit of them.
func (c *connections) enter(limit int) (ok bool) { return c.count(&c.known, limit) }

func (c *connections) leave() { c.discount(&c.known) }

// enterStranger counts a connection that has opened no document yet; leaveStranger
// ends it.
func (c *connections) enterStranger(limit int) (ok bool) { return c.count(&c.guests, limit) }

func (c *connections) leaveStranger() { c.discount(&c.guests) }

func (c *connections) count(n *int, limit int) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || *n >= limit {
		return false
	}
	*n++
	c.active.Add(1)
	return true
}

func (c *connections) discount(n *int) {
	c.mu.Lock()
	*n--
	c.mu.Unlock()
	c.active.Done()
}

// close lets nobody in any more.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// wait waits until the last one has left. It comes after close.
func (c *connections) wait() { c.active.Wait() }
