package ycrdt

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// An Array is a shared sequence of the values that a [Map] can hold. Positions count elements; a position beyond the
// end means the end.
type Array struct {
	handle
	initial []any
}

// NewArray returns an array with the given values. It cannot be read or changed until it is inserted into a [Map] or
// another Array.
func NewArray(values ...any) *Array { return &Array{initial: slices.Clone(values)} }

func (a *Array) wireType() uint8 { return wire.TypeArray }

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
	err := a.Push(tx, a.initial...)
	a.initial = nil
	return err
}

// Push adds values at the end, after deleted elements that are there. If a value has no Yjs form, Push returns an error
// that wraps [ErrValue]. It then changes nothing, unless values contains one shared type twice.
func (a *Array) Push(tx *Txn, values ...any) error {
	b := a.in(tx)
	if err := checkValues(values); err != nil || b.Dead {
		return err
	}
	s := tx.edit.Store
	last := structs.Ref(0)
	if b.Length > 0 {
		last, _ = tx.edit.Store.Locate(b, b.Length)
	}
	for r := s.After(b, last); r != 0; r = s.Items[r].Right {
		last = r
	}
	return tx.insertValues(b, last, values)
}

// insertValues inserts values after left. The commit joins neighbours that can share an item.
func (tx *Txn) insertValues(b *ytypes.Branch, left structs.Ref, values []any) (err error) {
	right := tx.edit.Store.After(b, left)
	for _, v := range values {
		if left, err = tx.insertValue(v, left, right, b.Index); err != nil {
			return err
		}
	}
	return nil
}

func (a *Array) Delete(tx *Txn, pos, n int) {
	b := a.in(tx)
	pos = clamp(pos, b.Length)
	if n = clamp(n, b.Length-pos); n > 0 && !b.Dead {
		edit.DeleteVisible(&tx.edit, b, pos, n)
	}
}

func (a *Array) Values() (values []any) {
	a.read(func(s *ytypes.Store, b *ytypes.Branch) { values = a.elements(s, b) })
	return values
}

func (a *Array) ValuesIn(tx *Txn) []any { return a.elements(tx.edit.Store, a.in(tx)) }

func (a *Array) elements(s *ytypes.Store, b *ytypes.Branch) []any {
	if b == nil {
		return nil
	}
	values := make([]any, 0, b.Length)
	for r := b.Start; r != 0; r = s.Items[r].Right {
		if it := &s.Items[r]; it.VisibleUnits() > 0 {
			values = a.doc.values(it, values)
		}
	}
	return values
}
