package bridge

import (
	"container/list"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// defaultCacheBytes is Options.CacheBytes where that is not set.
const defaultCacheBytes = 256 << 20

// noteCache bounds the memory of loaded notes. What is beyond the budget is dropped,
// least recently used first, and read again when it is asked for.
type noteCache struct {
	budget int // in bytes

	mu    sync.Mutex // protects the following
	order list.List  // of *cached, most recently used first
	at    map[*note]*list.Element
	bytes int
}

type cached struct {
	note *note
	size int
}

// touch marks a note as just used.
func (c *noteCache) touch(n *note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.at[n]; e != nil {
		c.order.MoveToFront(e)
	}
}

// add accounts for a note that takes size bytes and drops what exceeds the
// budget. n's write lock is held; the locks of others are only tried for.
func (c *noteCache) add(n *note, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
	if c.at == nil {
		c.at = make(map[*note]*list.Element)
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
func (c *noteCache) remove(n *note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
}

func (c *noteCache) forget(n *note) {
	if e := c.at[n]; e != nil {
		c.bytes -= e.Value.(*cached).size
		c.order.Remove(e)
		delete(c.at, n)
	}
}

// evict drops a note's text and document from memory, unless it is in use. What
// it drops is in the file and the store. A version that somebody holds as a
// base keeps the identities of its characters.
func (n *note) evict() bool {
	if !n.write.TryLock() {
		return false
	}
	defer n.write.Unlock()
	if n.isShared() {
		return false
	}
	if cur := n.cur.Load(); cur != nil {
		n.replaced(cur)
	}
	n.cur.Store(nil)
	n.closeDoc()
	return true
}

// recordSize is about what a record takes in memory without its update.
const recordSize = 256

// size is about how many bytes of memory the note takes with v as its current
// version. The write lock is held.
func (n *note) size(v *model.Version) int {
	size := len(v.Raw()) + n.ledger.Size()*recordSize
	if n.doc != nil {
		size += n.doc.Size()
	}
	return size
}
