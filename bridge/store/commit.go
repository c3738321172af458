package store

import (
	"sync"

	bolt "go.etcd.io/bbolt"
)

// committer lets concurrent calls share a transaction, and so a sync. Unlike
// bolt.DB.Batch it never waits for company: the first caller commits at once,
// and who comes while that sync is going on is in the next one together.
type committer struct {
	commit func(func(*bolt.Tx) error) error // synced when it returns

	mu      sync.Mutex // protects the following
	waiting []*call
	busy    bool // a caller is committing
}

// call is one function that waits for its transaction.
type call struct {
	fn   func(*bolt.Tx) error
	lead bool // its caller is to commit the next batch
	done chan error
}

// do runs fn in a transaction and returns when that is synced. fn may be run
// again, in another transaction, if the first one failed.
func (c *committer) do(fn func(*bolt.Tx) error) error {
	mine := &call{fn: fn, done: make(chan error, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, mine)
	lead := !c.busy
	c.busy = true
	c.mu.Unlock()
	if !lead {
		if err := <-mine.done; !mine.lead {
			return err
		}
	}
	c.run()
	return <-mine.done
}

// run commits everything that waits, and hands the lead to who came meanwhile.
func (c *committer) run() {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	c.commitAll(batch)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy = len(c.waiting) > 0; c.busy {
		next := c.waiting[0]
		next.lead = true
		next.done <- nil
	}
}

// commitAll commits a batch in one transaction. If that fails, each call gets
// its own, so that one caller's error is not another's.
func (c *committer) commitAll(batch []*call) {
	err := c.commit(func(tx *bolt.Tx) error {
		for _, one := range batch {
			if err := one.fn(tx); err != nil {
				return err
			}
		}
		return nil
	})
	for _, one := range batch {
		if err != nil && len(batch) > 1 {
			one.done <- c.commit(one.fn)
			continue
		}
		one.done <- err
	}
}
