package ycrdt

import (
	"iter"
	"maps"
	"slices"
)

// A Map is a shared map from strings to values. Of concurrent writes to one
// key one wins, the same on every peer.
//
// Values go in as nil, bool, any integer or float type, string, []byte, []any,
// map[string]any, [Undefined], [BigInt] or a nested type from [NewText],
// [NewMap] or [NewArray]. They come out as nil, bool, int64 (JavaScript
// integers of up to 31 bits), float64, string, []byte, []any, map[string]any,
// Undefined, BigInt, *[Text], *[Map], *[Array], [Subdoc] or [Foreign].
type Map struct {
	handle
	initial map[string]any
}

// NewMap returns a map that holds content, to be inserted into another [Map]
// or an [Array]. Until then it can be neither read nor changed.
func NewMap(content map[string]any) *Map { return &Map{initial: maps.Clone(content)} }

func (m *Map) wireType() uint8 { return typeMap }

func (m *Map) check() error {
	for _, v := range m.initial {
		if err := checkValue(v); err != nil {
			return err
		}
	}
	return nil
}

func (m *Map) fill(tx *Txn) error {
	for _, key := range slices.Sorted(maps.Keys(m.initial)) {
		if err := m.Set(tx, key, m.initial[key]); err != nil {
			return err
		}
	}
	m.initial = nil
	return nil
}

// Set makes value the value of key. It returns an error that wraps [ErrValue],
// and changes nothing, if value has no Yjs form.
func (m *Map) Set(tx *Txn, key string, value any) error {
	b := m.in(tx)
	if err := checkValue(value); err != nil || b.dead {
		return err
	}
	e := tx.store.entryFor(b, []byte(validText(key)))
	_, err := tx.insertValue(value, tx.store.entries[e].head, 0, -e)
	return err
}

// Delete removes key and its value.
func (m *Map) Delete(tx *Txn, key string) {
	if r := tx.store.headOf(m.in(tx), key); r != 0 {
		tx.deleteItem(r)
	}
}

// Get returns the committed value of key, and whether there is one.
func (m *Map) Get(key string) (value any, ok bool) {
	m.read(func(s *store, b *branch) { value, ok = s.get(m.doc, b, key) })
	return value, ok
}

// GetIn is [Map.Get] for the map as tx sees it.
func (m *Map) GetIn(tx *Txn, key string) (value any, ok bool) {
	return tx.store.get(m.doc, m.in(tx), key)
}

func (s *store) get(doc *Doc, b *branch, key string) (any, bool) {
	if b == nil {
		return nil, false
	}
	r := s.headOf(b, key)
	if r == 0 || s.items[r].deleted() {
		return nil, false
	}
	return s.lastValue(doc, &s.items[r]), true
}

// Len returns how many keys have a committed value.
func (m *Map) Len() int { return len(m.Keys()) }

// Keys returns the committed keys, sorted.
func (m *Map) Keys() (keys []string) {
	m.read(func(s *store, b *branch) {
		if b != nil {
			keys = s.sortedKeys(b)
		}
	})
	return keys
}

// KeysIn is [Map.Keys] for the map as tx sees it.
func (m *Map) KeysIn(tx *Txn) []string { return tx.store.sortedKeys(m.in(tx)) }

// All iterates over the committed keys, sorted, and their values. It sees the
// map as it was when the iteration began.
func (m *Map) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		var keys []string
		var values []any
		m.read(func(s *store, b *branch) {
			if b == nil {
				return
			}
			keys = s.sortedKeys(b)
			for _, k := range keys {
				values = append(values, s.lastValue(m.doc, &s.items[s.headOf(b, k)]))
			}
		})
		for i, k := range keys {
			if !yield(k, values[i]) {
				return
			}
		}
	}
}

// ToJSON returns the committed content as a map[string]any that package
// encoding/json accepts; undefined values are left out.
func (m *Map) ToJSON() (v any) {
	m.read(func(s *store, _ *branch) { v = m.json(s, 0) })
	return v
}

func (m *Map) json(s *store, depth int) any {
	out := make(map[string]any)
	b := m.find(s)
	if b == nil {
		return out
	}
	for _, e := range b.keyOrder {
		h := s.entries[e].head
		if h == 0 || s.items[h].deleted() {
			continue
		}
		v := s.lastValue(m.doc, &s.items[h])
		if v != (any)(nil) {
			if _, ok := v.(Undefined); ok {
				continue
			}
		}
		out[s.entries[e].key] = s.toJSON(v, depth)
	}
	return out
}
