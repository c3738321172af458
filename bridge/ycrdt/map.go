package ycrdt

import (
	"iter"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A Map is a shared map from strings to values. If several clients write to one key concurrently, every peer keeps the
// same value.
//
// It accepts nil, bool, any integer or float type, string, []byte, []any, map[string]any, [Object], [Undefined],
// [BigInt], and nested types from [NewText], [NewMap] or [NewArray]. It returns nil, bool, int64 (JavaScript integers
// of up to 31 bits), float64, string, []byte, []any, Object, Undefined, BigInt, *[Text], *[Map], *[Array], [Subdoc] or
// [Foreign].
type Map struct {
	handle
	initial map[string]any
}

// NewMap returns a map with the given content. It cannot be read or changed until it is inserted into another [Map] or
// an [Array].
func NewMap(content map[string]any) *Map { return &Map{initial: maps.Clone(content)} }

func (m *Map) wireType() uint8 { return wire.TypeMap }

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

// Set sets the value of key. If value has no Yjs form, Set returns an error that wraps [ErrValue]. It then changes
// nothing, unless value contains one shared type twice.
func (m *Map) Set(tx *Txn, key string, value any) error {
	b := m.in(tx)
	if err := checkValue(value); err != nil || b.Dead {
		return err
	}
	e := tx.edit.Store.EntryFor(b, []byte(lib0.ValidUTF8(key)))
	_, err := tx.insertValue(value, tx.edit.Store.Entries[e].Head, 0, -e)
	return err
}

func (m *Map) Delete(tx *Txn, key string) {
	if r := tx.edit.Store.HeadOf(m.in(tx), key); r != 0 {
		tx.edit.DeleteItem(r)
	}
}

func (m *Map) Get(key string) (value any, ok bool) {
	m.read(func(s *ytypes.Store, b *ytypes.Branch) { value, ok = m.get(s, b, key) })
	return value, ok
}

func (m *Map) GetIn(tx *Txn, key string) (value any, ok bool) {
	return m.get(tx.edit.Store, m.in(tx), key)
}

func (m *Map) get(s *ytypes.Store, b *ytypes.Branch, key string) (any, bool) {
	if b == nil {
		return nil, false
	}
	r := s.HeadOf(b, key)
	if r == 0 || s.Items[r].Deleted() {
		return nil, false
	}
	return m.doc.lastValue(&s.Items[r]), true
}

func (m *Map) Len() int { return len(m.Keys()) }

func (m *Map) Keys() (keys []string) {
	m.read(func(s *ytypes.Store, b *ytypes.Branch) {
		if b != nil {
			keys = s.SortedKeys(b)
		}
	})
	return keys
}

// A Setter is a key and the client that set its value.
type Setter struct {
	Key    string
	Client ClientID
	// Conflict is set if the last update has set the value, by a client that did not have the value before it. Which value
	// wins does not matter.
	Conflict bool
}

// KeysSince returns the committed keys in the order in which they came into the document, without the first n. It also
// returns the n for the next call, which then returns only later keys. Another Doc with the same content may have
// another order.
func (m *Map) KeysSince(n int) (keys []Setter, next int) {
	m.read(func(s *ytypes.Store, b *ytypes.Branch) {
		if b == nil {
			return
		}
		next = len(b.KeyOrder)
		for _, e := range b.KeyOrder[min(n, next):] {
			if e := s.Entries[e]; e.Head != 0 && !s.Items[e.Head].Deleted() {
				keys = append(keys, Setter{e.Key, ClientID(s.IDOf(&s.Items[e.Head]).Client), e.Conflict == s.Epoch})
			}
		}
	})
	return keys, next
}

func (m *Map) KeysIn(tx *Txn) []string { return tx.edit.Store.SortedKeys(m.in(tx)) }

// All iterates over the committed keys, sorted, and their values. It uses the state at the start of the iteration.
func (m *Map) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		var keys []string
		var values []any
		m.read(func(s *ytypes.Store, b *ytypes.Branch) {
			if b == nil {
				return
			}
			keys = s.SortedKeys(b)
			for _, k := range keys {
				values = append(values, m.doc.lastValue(&s.Items[s.HeadOf(b, k)]))
			}
		})
		for i, k := range keys {
			if !yield(k, values[i]) {
				return
			}
		}
	}
}

// ObjectIn returns the map as tx sees it. The keys are in the order in which they came into the document, as in Yjs.
func (m *Map) ObjectIn(tx *Txn) Object {
	s := tx.edit.Store
	obj := Object{}
	for _, e := range m.in(tx).KeyOrder {
		if h := s.Entries[e].Head; h != 0 && !s.Items[h].Deleted() {
			obj = append(obj, Member{Key: s.Entries[e].Key, Value: m.doc.lastValue(&s.Items[h])})
		}
	}
	return obj
}
