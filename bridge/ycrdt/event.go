package ycrdt

import "slices"

// A TextEvent tells what a transaction did to a [Text].
type TextEvent struct {
	Text   *Text
	Delta  []TextOp // what changed, from the start of the text on
	Origin any      // as given to Transact or ApplyUpdate
	Local  bool     // false for a change by ApplyUpdate
}

// A TextOp is one step of a delta, as in Yjs and Quill. Exactly one of Retain,
// Delete, Insert and Embed is set. Lengths count UTF-16 units.
type TextOp struct {
	Retain     int
	Delete     int
	Insert     string
	Embed      any            // an embedded object or nested type
	Attributes map[string]any // formats of what is inserted or retained
}

// An ArrayEvent tells what a transaction did to an [Array].
type ArrayEvent struct {
	Array  *Array
	Delta  []ArrayOp
	Origin any
	Local  bool
}

// An ArrayOp is one step of the delta of an array. One of its fields is set.
type ArrayOp struct {
	Retain int
	Delete int
	Insert []any
}

// A MapEvent tells what a transaction did to a [Map].
type MapEvent struct {
	Map    *Map
	Keys   map[string]KeyChange
	Origin any
	Local  bool
}

// A KeyChange tells what happened to one key: it was added (only New is set),
// updated (both) or deleted (only Old).
type KeyChange struct {
	Action   string // "add", "update" or "delete"
	Old, New any
}

// A branchChange collects what a transaction changed in an observed branch.
type branchChange struct {
	list bool
	keys []int32
}

func (b *branch) noteChange(parent int32) {
	if b.change == nil {
		b.change = &branchChange{}
	}
	if parent > 0 {
		b.change.list = true
	} else if !slices.Contains(b.change.keys, -parent) {
		b.change.keys = append(b.change.keys, -parent)
	}
}

// An observer computes the event of a transaction for one callback. It runs
// while the document is locked; what it returns is called later, unlocked.
type observer struct {
	event func(*Txn, *branch) func()
}

// An observerList holds the observers of a branch; Doc.mu protects it.
type observerList []*observer

func (l observerList) len() int { return len(l) }

// observe registers o for the branch of h and returns what removes it.
func (h *handle) observe(o *observer) (cancel func()) {
	if h.doc == nil {
		panic("ycrdt: Observe on a type that is in no document")
	}
	h.doc.mu.Lock()
	defer h.doc.mu.Unlock()
	b := h.find(h.doc.store)
	if b == nil {
		b = h.doc.store.rootBranch([]byte(h.name))
	}
	b.observers = append(b.observers, o)
	return func() {
		h.doc.mu.Lock()
		defer h.doc.mu.Unlock()
		b.observers = slices.DeleteFunc(slices.Clone(b.observers), func(other *observer) bool { return other == o })
	}
}

// Observe calls fn after every transaction that changed the text, until cancel
// is called. See [Doc.OnUpdate] for when; fn must not change the event. Neither
// Observe nor cancel may be called inside of a transaction.
func (t *Text) Observe(fn func(*TextEvent)) (cancel func()) {
	return t.observe(&observer{func(tx *Txn, b *branch) func() {
		if !b.change.list {
			return nil
		}
		e := &TextEvent{Text: t, Delta: tx.textDelta(b), Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// Observe calls fn after every transaction that changed the elements of the
// array itself, under the conditions of [Text.Observe].
func (a *Array) Observe(fn func(*ArrayEvent)) (cancel func()) {
	return a.observe(&observer{func(tx *Txn, b *branch) func() {
		if !b.change.list {
			return nil
		}
		e := &ArrayEvent{Array: a, Delta: tx.arrayDelta(b), Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// Observe calls fn after every transaction that changed the keys of the map
// itself, under the conditions of [Text.Observe].
func (m *Map) Observe(fn func(*MapEvent)) (cancel func()) {
	return m.observe(&observer{func(tx *Txn, b *branch) func() {
		keys := tx.keyChanges(b)
		if len(keys) == 0 {
			return nil
		}
		e := &MapEvent{Map: m, Keys: keys, Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// computeEvents prepares the calls of all observers. It runs before commit,
// when deleted content is still there, and needs tx.deletes to be normal.
func (tx *Txn) computeEvents() (calls []func()) {
	for _, b := range tx.changed {
		if b.change == nil || !tx.existedBefore(b) {
			continue
		}
		for _, o := range b.observers {
			if call := o.event(tx, b); call != nil {
				calls = append(calls, call)
			}
		}
		b.change = nil
	}
	return calls
}

// adds reports whether it, or its part from the returned unit on, is new in tx.
func (tx *Txn) adds(it *item) (from uint64, adds bool) {
	s := tx.store
	before := tx.clockBefore(s.homeOf(it))
	clock := s.clockOf(it)
	if s.endOf(it) <= before {
		return 0, false
	}
	return max(before, clock) - clock, true
}

// removes reports whether tx deleted it.
func (tx *Txn) removes(it *item) bool {
	id := tx.store.idOf(it)
	return tx.deletes.contains(id.Client, id.Clock)
}

// arrayDelta returns what tx did to the list of b.
func (tx *Txn) arrayDelta(b *branch) (delta []ArrayOp) {
	s := tx.store
	var op ArrayOp
	flush := func() {
		if op.Retain > 0 || op.Delete > 0 || op.Insert != nil {
			delta = append(delta, op)
		}
		op = ArrayOp{}
	}
	for r := b.start; r != 0; r = s.items[r].right {
		it := &s.items[r]
		_, added := tx.adds(it)
		switch {
		case it.deleted() && (added || !tx.removes(it)):
		case it.deleted():
			if op.Delete == 0 {
				flush()
			}
			op.Delete += int(it.units())
		case added:
			if op.Insert == nil {
				flush()
			}
			op.Insert = s.values(tx.doc, it, op.Insert)
		default:
			if op.Retain == 0 {
				flush()
			}
			op.Retain += int(it.units())
		}
	}
	if op.Retain == 0 {
		flush()
	}
	return delta
}

// keyChanges returns what tx did to the keys of b.
func (tx *Txn) keyChanges(b *branch) map[string]KeyChange {
	s := tx.store
	changes := make(map[string]KeyChange)
	for _, e := range b.change.keys {
		it := &s.items[s.entries[e].head]
		if _, added := tx.adds(it); !added {
			if tx.removes(it) {
				changes[s.entries[e].key] = KeyChange{Action: "delete", Old: s.lastValue(tx.doc, it)}
			}
			continue
		}
		prev := it.left
		for prev != 0 {
			if _, added := tx.adds(&s.items[prev]); !added {
				break
			}
			prev = s.items[prev].left
		}
		replaced := prev != 0 && tx.removes(&s.items[prev])
		c := KeyChange{Action: "add"}
		if replaced {
			c = KeyChange{Action: "update", Old: s.lastValue(tx.doc, &s.items[prev])}
		}
		if !tx.removes(it) {
			c.New = s.lastValue(tx.doc, it)
		} else if c.Action = "delete"; !replaced {
			continue
		}
		changes[s.entries[e].key] = c
	}
	return changes
}
