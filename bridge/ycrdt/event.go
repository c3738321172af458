package ycrdt

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

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

// observe registers o for the branch of h and returns what removes it.
func (h *handle) observe(o *ytypes.Observer) (cancel func()) {
	if h.doc == nil {
		panic("ycrdt: Observe on a type that is in no document")
	}
	h.doc.mu.Lock()
	defer h.doc.mu.Unlock()
	b := h.find(h.doc.store)
	if b == nil {
		b = h.doc.store.RootBranch([]byte(h.name))
	}
	b.Observers = append(b.Observers, o)
	return func() {
		h.doc.mu.Lock()
		defer h.doc.mu.Unlock()
		b.Observers = slices.DeleteFunc(slices.Clone(b.Observers), func(other *ytypes.Observer) bool { return other == o })
	}
}

// Observe calls fn after every transaction that changed the text, until cancel
// is called. See [Doc.OnUpdate] for when; fn must not change the event. Neither
// Observe nor cancel may be called inside of a transaction.
func (t *Text) Observe(fn func(*TextEvent)) (cancel func()) {
	return t.observe(&ytypes.Observer{Event: func(b *ytypes.Branch) func() {
		tx := &t.doc.txn
		if !b.Change.List {
			return nil
		}
		e := &TextEvent{Text: t, Delta: tx.textDelta(b), Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// Observe calls fn after every transaction that changed the elements of the
// array itself, under the conditions of [Text.Observe].
func (a *Array) Observe(fn func(*ArrayEvent)) (cancel func()) {
	return a.observe(&ytypes.Observer{Event: func(b *ytypes.Branch) func() {
		tx := &a.doc.txn
		if !b.Change.List {
			return nil
		}
		e := &ArrayEvent{Array: a, Delta: tx.arrayDelta(b), Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// Observe calls fn after every transaction that changed the keys of the map
// itself, under the conditions of [Text.Observe].
func (m *Map) Observe(fn func(*MapEvent)) (cancel func()) {
	return m.observe(&ytypes.Observer{Event: func(b *ytypes.Branch) func() {
		tx := &m.doc.txn
		keys := tx.keyChanges(b)
		if len(keys) == 0 {
			return nil
		}
		e := &MapEvent{Map: m, Keys: keys, Origin: tx.origin, Local: tx.local}
		return func() { fn(e) }
	}})
}

// arrayDelta returns what tx did to the list of b.
func (tx *Txn) arrayDelta(b *ytypes.Branch) (delta []ArrayOp) {
	s := tx.edit.Store
	var op ArrayOp
	flush := func() {
		if op.Retain > 0 || op.Delete > 0 || op.Insert != nil {
			delta = append(delta, op)
		}
		op = ArrayOp{}
	}
	for r := b.Start; r != 0; r = s.Items[r].Right {
		it := &s.Items[r]
		_, added := tx.edit.Adds(it)
		switch {
		case it.Deleted() && (added || !tx.edit.Removes(it)):
		case it.Deleted():
			if op.Delete == 0 {
				flush()
			}
			op.Delete += int(it.Units())
		case added:
			if op.Insert == nil {
				flush()
			}
			op.Insert = tx.doc.values(it, op.Insert)
		default:
			if op.Retain == 0 {
				flush()
			}
			op.Retain += int(it.Units())
		}
	}
	if op.Retain == 0 {
		flush()
	}
	return delta
}

// keyChanges returns what tx did to the keys of b.
func (tx *Txn) keyChanges(b *ytypes.Branch) map[string]KeyChange {
	s := tx.edit.Store
	changes := make(map[string]KeyChange)
	for _, e := range b.Change.Keys {
		it := &s.Items[s.Entries[e].Head]
		if _, added := tx.edit.Adds(it); !added {
			if tx.edit.Removes(it) {
				changes[s.Entries[e].Key] = KeyChange{Action: "delete", Old: tx.doc.lastValue(it)}
			}
			continue
		}
		prev := it.Left
		for prev != 0 {
			if _, added := tx.edit.Adds(&s.Items[prev]); !added {
				break
			}
			prev = s.Items[prev].Left
		}
		replaced := prev != 0 && tx.edit.Removes(&s.Items[prev])
		c := KeyChange{Action: "add"}
		if replaced {
			c = KeyChange{Action: "update", Old: tx.doc.lastValue(&s.Items[prev])}
		}
		if !tx.edit.Removes(it) {
			c.New = tx.doc.lastValue(it)
		} else if c.Action = "delete"; !replaced {
			continue
		}
		changes[s.Entries[e].Key] = c
	}
	return changes
}
