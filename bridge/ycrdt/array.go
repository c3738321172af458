package ycrdt

import "slices"

// An Array is a shared sequence of values, which are those of a [Map].
// Positions count elements; those beyond the end stand for the end.
type Array struct {
	handle
	initial []any
}

// NewArray returns an array that holds values, to be inserted into a [Map] or
// another Array. Until then it can be neither read nor changed.
func NewArray(values ...any) *Array { return &Array{initial: slices.Clone(values)} }

func (a *Array) wireType() uint8 { return typeArray }

func (a *Array) check() error { return checkValues(a.initial) }

func checkValues(values []any) error {
	for _, v := range values {
		if err := checkValue(v); err != nil {
			return err
		}
	}
	return nil
}

func (a *Array) fill(tx *Txn) error {
	err := a.Insert(tx, 0, a.initial...)
	a.initial = nil
	return err
}

// Insert puts values before the element at pos. It returns an error that wraps
// [ErrValue], and changes nothing, if a value has no Yjs form.
func (a *Array) Insert(tx *Txn, pos int, values ...any) error {
	b := a.in(tx)
	if err := checkValues(values); err != nil || b.dead {
		return err
	}
	left, off := tx.store.locate(b, clamp(pos, b.length))
	if left != 0 && off < int(tx.store.items[left].length) {
		tx.splitItem(left, uint64(off))
	}
	return tx.insertValues(b, left, values)
}

// Push adds values at the end. Unlike an insertion at the last position they
// come after elements that were deleted there.
func (a *Array) Push(tx *Txn, values ...any) error {
	b := a.in(tx)
	if err := checkValues(values); err != nil || b.dead {
		return err
	}
	s := tx.store
	last := ref(0)
	if b.length > 0 {
		last, _ = tx.store.locate(b, b.length)
	}
	for r := s.after(b, last); r != 0; r = s.items[r].right {
		last = r
	}
	return tx.insertValues(b, last, values)
}

// insertValues inserts values after left. Neighbours that are any values share
// an item.
func (tx *Txn) insertValues(b *branch, left ref, values []any) (err error) {
	right := tx.store.after(b, left)
	var packed []byte
	count := 0
	flush := func() {
		if count > 0 {
			left = tx.insertContent(kindAny, packed, count, left, right, b.index)
			packed, count = packed[:0], 0
		}
	}
	for _, v := range values {
		if !isAny(v) {
			flush()
			if left, err = tx.insertValue(v, left, right, b.index); err != nil {
				return err
			}
			continue
		}
		if packed, err = encodeValue(packed, v); err != nil {
			return err
		}
		count++
	}
	flush()
	return nil
}

// isAny reports whether v shares an item with its neighbours in an array.
func isAny(v any) bool {
	switch v.(type) {
	case []byte, sharedType:
		return false
	}
	return true
}

// Delete removes n elements from pos on.
func (a *Array) Delete(tx *Txn, pos, n int) {
	b := a.in(tx)
	pos = clamp(pos, b.length)
	if n = clamp(n, b.length-pos); n > 0 && !b.dead {
		tx.deleteVisible(b, pos, n)
	}
}

// Len returns the committed number of elements.
func (a *Array) Len() (n int) {
	a.read(func(_ *store, b *branch) {
		if b != nil {
			n = b.length
		}
	})
	return n
}

// LenIn returns the number of elements as tx sees it.
func (a *Array) LenIn(tx *Txn) int { return a.in(tx).length }

// Get returns the committed element at pos, and whether there is one.
func (a *Array) Get(pos int) (value any, ok bool) {
	if pos < 0 {
		return nil, false
	}
	a.read(func(s *store, b *branch) { value, ok = s.element(a.doc, b, pos) })
	return value, ok
}

// GetIn is [Array.Get] for the array as tx sees it.
func (a *Array) GetIn(tx *Txn, pos int) (value any, ok bool) {
	if pos < 0 {
		return nil, false
	}
	return tx.store.element(a.doc, a.in(tx), pos)
}

func (s *store) element(doc *Doc, b *branch, pos int) (any, bool) {
	if b == nil {
		return nil, false
	}
	for r := b.start; r != 0; r = s.items[r].right {
		n := int(visibleUnits(&s.items[r]))
		if pos < n {
			return s.values(doc, &s.items[r], nil)[pos], true
		}
		pos -= n
	}
	return nil, false
}

// Values returns the committed elements.
func (a *Array) Values() (values []any) {
	a.read(func(s *store, b *branch) { values = s.elements(a.doc, b) })
	return values
}

// ValuesIn returns the elements as tx sees them.
func (a *Array) ValuesIn(tx *Txn) []any { return tx.store.elements(a.doc, a.in(tx)) }

func (s *store) elements(doc *Doc, b *branch) []any {
	if b == nil {
		return nil
	}
	values := make([]any, 0, b.length)
	for r := b.start; r != 0; r = s.items[r].right {
		if it := &s.items[r]; visibleUnits(it) > 0 {
			values = s.values(doc, it, values)
		}
	}
	return values
}

// ToJSON returns the committed elements as an []any that package encoding/json
// accepts.
func (a *Array) ToJSON() (v any) {
	a.read(func(s *store, _ *branch) { v = a.json(s, 0) })
	return v
}

func (a *Array) json(s *store, depth int) any {
	values := s.elements(a.doc, a.find(s))
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = s.toJSON(v, depth)
	}
	return out
}
