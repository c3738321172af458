package ycrdt

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// Holds reports whether the unit was there, and not deleted.
func Holds(s *Snapshot, id ID) bool {
	return id.Clock < s.state[id.Client] && !contains(s.deletes, id)
}

// Content returns the content of every root, in the form of packValue. A root with keys is a map, and one with text is a
// text.
func Content(d *Doc) any {
	type root struct {
		keys   bool
		length int
	}
	roots := make(map[string]root)
	d.mu.Lock()
	for name, b := range d.store.Roots {
		roots[name] = root{len(b.KeyOrder) > 0, b.Length}
	}
	d.mu.Unlock()
	out := make(map[string]any)
	for name, r := range roots {
		switch {
		case r.keys:
			out[name] = packValue(d.Map(name))
		case d.Text(name).String() != "":
			out[name] = packValue(d.Text(name))
		case r.length > 0:
			out[name] = packValue(d.Array(name))
		}
	}
	return out
}

// contains reports whether a unit is in a set.
func contains(ds wire.DeleteSet, id ID) bool {
	return slices.ContainsFunc(ds, func(r wire.Range) bool { return r.Client == id.Client && r.Clock <= id.Clock && id.Clock < r.End() })
}

// LenIn returns the number of elements as tx sees it.
func (a *Array) LenIn(tx *Txn) int { return len(a.ValuesIn(tx)) }

// Insert puts values before the element at pos. If a value has no Yjs form, Insert returns an error that wraps
// [ErrValue]. It then changes nothing, unless values contains one shared type twice.
func (a *Array) Insert(tx *Txn, pos int, values ...any) error {
	b := a.in(tx)
	if err := checkValues(values); err != nil || b.Dead {
		return err
	}
	left, off := tx.edit.Store.Locate(b, clamp(pos, b.Length))
	if left != 0 && off < int(tx.edit.Store.Items[left].Length) {
		tx.edit.SplitItem(left, uint64(off))
	}
	return tx.insertValues(b, left, values)
}
