package note

import (
	"container/list"
	"sync"
)

// cache bounds the memory of loaded notes. What is beyond the budget is dropped,
// least recently used first, and read again when it is asked for.
type cache struct {
	budget int // in bytes

	mu    sync.Mutex // protects the following
	order list.List  // of *cached, most recently used first
	at    map[*Note]*list.Element
	bytes int
}

type cached struct {
	note *Note
	size int
}

// touch marks a note as just used.
func (c *cache) touch(n *Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[n]; e != nil {
		c.order.MoveToFront(e)
	}
}

// add accounts for a note that takes size bytes and drops what exceeds the
// budget. The writer of n calls it; the locks of others are only tried for.
func (c *cache) add(n *Note, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
	if c.at == nil {
		c.at = make(map[*Note]*list.Element)
	}
	c.at[n] = c.order.PushFront(&cached{n, size})
	c.bytes += size
	for e := c.order.Back(); e != nil && c.bytes > c.budget; {
		prev := e.Prev()
		if victim := e.Value.(*cached).note; victim != n && victim.evict() {
			c.forget(victim)
		}
		e = prev
	}
}

// remove forgets a note that is gone.
func (c *cache) remove(n *Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
}

func (c *cache) forget(n *Note) {
	if e := c.at[n]; e != nil {
		c.bytes -= e.Value.(*cached).size
		c.order.Remove(e)
		delete(c.at, n)
	}
}

// evict drops a note's text and document from memory, unless it is in use. What
// it drops is in the file and the store. A version that somebody holds as a
// base keeps the identities of its characters.
func (n *Note) evict() bool {
	if !n.mu.TryLock() {
		return false
	}
	defer n.mu.Unlock()
	l := (*Locked)(n)
	if l.isShared() {
		return false
	}
	if cur := n.cur.Load(); cur != nil {
		l.nameRuns(cur)
	}
	n.cur.Store(nil)
	l.closeDoc()
	return true
}

// recordSize is about what a record takes in memory without its update.
const recordSize = 256

// size is about how many bytes of memory the document takes.
func (d *document) size() int {
	size := d.ledger.Size() * recordSize
	if d.doc != nil {
		size += d.doc.Size()
	}
	return size
}
