package note

import (
	"container/list"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

type Mode uint8

const (
	Suggest Mode = iota
	// Direct stores every write as plain text, without suggestions.
	Direct
)

func (m Mode) String() string { return [...]string{"suggest", "direct"}[m] }

type Options struct {
	Mode        Mode
	View        diffwrap.View
	ReadOnly    bool
	FrontMatter diffwrap.FrontMatterPolicy
	Dialect     diffwrap.Dialect
	// CacheBytes is the maximum memory, in bytes, of loaded notes without a current writer, including their
	// attribution; 0 means 256 MiB.
	CacheBytes int
	Logger     *slog.Logger // nil discards the messages
	// Saved receives the duration and the error of each change of a note by a program or a decision, including the
	// creation of a note. It must not block. It may be nil.
	Saved func(took time.Duration, err error)
}

func (o *Options) Observe(start time.Time, err error) {
	if o.Saved != nil {
		o.Saved(time.Since(start), err)
	}
}

// ReadOnlyErr returns an ErrReadOnly if no note can be written, else nil. In suggest mode, writes in the raw view would
// bypass review.
func (o *Options) ReadOnlyErr() error {
	switch {
	case o.ReadOnly:
		return model.ErrReadOnly
	case o.View == diffwrap.OriginalView:
		return &model.ReadOnlyError{Reason: "the view original hides pending suggestions; write through relayfs with --view accepted"}
	case o.View == diffwrap.RawView && o.Mode != Direct:
		return &model.ReadOnlyError{Reason: "writes in the view raw would not become suggestions; write through relayfs with --view accepted, or with --mode direct"}
	}
	return nil
}

// Set has the state that the notes of a workspace share.
type Set struct {
	o      Options
	events *model.Bus
	cache  cache

	claimMu sync.Mutex // held while a document moves to another note; taken after a note's lock
}

// NewSet returns an empty set. The set reports each change of a note on the bus, as an operation and an event.
func NewSet(o Options, act *model.Bus) *Set {
	return &Set{o: o, events: act, cache: cache{budget: o.CacheBytes}}
}

// Source creates the notes of one source.
type Source struct {
	set     *Set
	source  model.Source
	history model.Store
	missing []model.StoredDoc // documents whose files were not found at the start; see SetMissing
}

func (s *Set) Source(source model.Source, store model.Store) *Source {
	return &Source{set: s, source: source, history: store}
}

// SetMissing sets the documents whose files do not exist at the start. One of them may belong to a note of which only the
// text shows that. SetMissing must be called before notes are read.
func (s *Source) SetMissing(docs []model.StoredDoc) { s.missing = docs[:min(len(docs), maxMissing)] }

func (s *Source) New(node Node) *Note { return &Note{Source: s, node: node} }

// cache limits the memory of loaded notes. If the notes exceed the budget, the cache evicts the least recently used
// notes. The next access reads an evicted note again.
type cache struct {
	budget int // in bytes

	mu        sync.Mutex // guards the fields below
	order     list.List  // *Note values, most recently used first
	bytes     int
	used      time.Time   // time of the last access to any note
	idleTimer *time.Timer // runs trimIdle; nil if no note was added since trimIdle ran
}

const (
	// If no note was used for idleAfter, trimIdle evicts notes until idleBytes remain. Otherwise the notes that one
	// search has loaded would stay in memory.
	idleAfter = time.Minute
	idleBytes = 16 << 20
	// loadedBytes is the approximate size of a loaded note without its text.
	loadedBytes = 256
)

// trimIdle evicts notes until the cache has at most idleBytes, if no note was used for idleAfter.
func (c *cache) trimIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := time.Until(c.used.Add(idleAfter)); left > 0 {
		c.idleTimer.Reset(left)
		return
	}
	c.idleTimer = nil
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

// add accounts for a note of size bytes, and evicts notes if the cache exceeds its budget. The caller must be the
// writer of n; add only tries the locks of other notes.
func (c *cache) add(n *Note, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(n)
	n.cached, n.size = c.order.PushFront(n), size
	c.bytes += size
	c.used = time.Now()
	if c.idleTimer == nil {
		c.idleTimer = time.AfterFunc(idleAfter, c.trimIdle)
	}
	c.trim(c.budget, n)
}

// trim evicts notes, except keep and locked notes, until the cache fits the budget, which is in bytes.
func (c *cache) trim(budget int, keep *Note) {
	for e := c.order.Back(); e != nil && c.bytes > budget; {
		prev := e.Prev()
		if victim := e.Value.(*Note); victim != keep && victim.evict() {
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

// evict drops a note's text and document from memory, unless the note is locked. The text is still in the file, and the
// document in the store. If a writer holds a version as its base, that version keeps the identities of its characters.
func (n *Note) evict() bool {
	if !n.writeLock.tryLock() {
		return false
	}
	l := (*Locked)(n)
	defer l.Unlock()
	if current := n.current.Load(); current != nil {
		l.nameRuns(current)
	}
	n.current.Store(nil)
	l.unloadDoc()
	return true
}

func (d *document) size() int {
	size := d.table.Bytes()
	if d.doc != nil {
		size += d.doc.Size()
	}
	return size
}
