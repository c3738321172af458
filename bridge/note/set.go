package note

import (
	"container/list"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Mode says what a write becomes.
type Mode uint8

const (
	// Suggest makes every write a set of suggestions in the document.
	Suggest Mode = iota
	// Direct makes every write plain text at once.
	Direct
)

func (m Mode) String() string { return [...]string{"suggest", "direct"}[m] }

// Options say how notes are shown and written.
type Options struct {
	Mode        Mode
	View        diffwrap.View
	ReadOnly    bool
	FrontMatter diffwrap.FrontMatterPolicy
	Dialect     diffwrap.Dialect
	// CacheBytes bounds the memory of notes that are loaded and that nobody is
	// changing, with what is known of who wrote them; 0 is 256 MiB.
	CacheBytes int
	Logger     *slog.Logger // nil discards
	// Saved is told how long each change of a note by a program or a decision took, new
	// notes included, and what it failed with. It must not block; nil tells nobody.
	Saved func(took time.Duration, err error)
}

// Observe tells Saved of a change that began at start.
func (o *Options) Observe(start time.Time, err error) {
	if o.Saved != nil {
		o.Saved(time.Since(start), err)
	}
}

// Locked says why no note can be written, with an ErrReadOnly; nil if they can. A raw
// view would be stored as it is written: past every review.
func (o *Options) ReadOnlyErr() error {
	switch {
	case o.ReadOnly:
		return model.ErrReadOnly
	case o.View == diffwrap.OriginalView:
		return &model.ReadOnlyError{Reason: "the view original does not show what is proposed already; write through relayfs with --view accepted"}
	case o.View == diffwrap.RawView && o.Mode != Direct:
		return &model.ReadOnlyError{Reason: "what is written in the view raw would not become suggestions; write through relayfs with --view accepted, or with --mode direct"}
	}
	return nil
}

// Set is what the notes of a workspace share.
type Set struct {
	o     Options
	act   *model.Bus
	cache cache

	claiming sync.Mutex // held while a document is given to another note; taken after a note's lock
}

// NewSet makes a set without notes. Their changes are operations and events of act.
func NewSet(o Options, act *model.Bus) *Set {
	return &Set{o: o, act: act, cache: cache{budget: o.CacheBytes}}
}

// New makes the note of a node, whose file is in source and whose document is in store.
func (s *Set) New(node Node, source model.Source, store model.Store) *Note {
	return &Note{set: s, node: node, source: source, document: document{store: store}}
}

// cache bounds the memory of loaded notes. What is beyond the budget is dropped,
// least recently used first, and read again when it is asked for.
type cache struct {
	budget int // in bytes

	mu      sync.Mutex // protects the following
	order   list.List  // of *Note, most recently used first
	bytes   int
	used    time.Time   // when a note was last asked for
	resting *time.Timer // of rest; nil if nothing was added since
}

const (
	// idleAfter is for how long no note was asked for when those beyond idleBytes are dropped: one search through a vault
	// does not take its memory for good.
	idleAfter = time.Minute
	idleBytes = 16 << 20
	// loadedBytes is about what a loaded note takes besides its text.
	loadedBytes = 256
)

// rest drops what exceeds idleBytes, if nobody has asked for a note for a while.
func (c *cache) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := time.Until(c.used.Add(idleAfter)); left > 0 {
		c.resting.Reset(left)
		return
	}
	c.resting = nil
	c.trim(min(c.budget, idleBytes), nil)
}

func (c *cache) touch(n *Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
	if n.cached != nil {
		c.order.MoveToFront(n.cached)
	}
}

// add accounts for a note that takes size bytes and drops what exceeds the
// budget. The writer of n calls it; the locks of others are only tried for.
func (c *cache) add(n *Note, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
	n.cached, n.size = c.order.PushFront(n), size
	c.bytes += size
	c.used = time.Now()
	if c.resting == nil {
		c.resting = time.AfterFunc(idleAfter, c.rest)
	}
	c.trim(c.budget, n)
}

// trim drops notes until they fit into a budget, but for one.
func (c *cache) trim(budget int, but *Note) {
	for e := c.order.Back(); e != nil && c.bytes > budget; {
		prev := e.Prev()
		if victim := e.Value.(*Note); victim != but && victim.evict() {
			c.forget(victim)
		}
		e = prev
	}
}

func (c *cache) remove(n *Note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
}

func (c *cache) forget(n *Note) {
	if n.cached != nil {
		c.bytes -= n.size
		c.order.Remove(n.cached)
		n.cached = nil
	}
}

// evict drops a note's text and document from memory, unless it is in use. What
// it drops is in the file and the store. A version that somebody holds as a
// base keeps the identities of its characters.
func (n *Note) evict() bool {
	if !n.writing.try() {
		return false
	}
	l := (*Locked)(n)
	defer l.Unlock()
	if cur := n.cur.Load(); cur != nil {
		l.nameRuns(cur)
	}
	n.cur.Store(nil)
	l.closeDoc()
	return true
}

// size is about how many bytes of memory the document takes.
func (d *document) size() int {
	size := d.table.Bytes()
	if d.doc != nil {
		size += d.doc.Size()
	}
	return size
}
