package ycrdt

import (
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A sharedType is a *Text, *Map or *Array.
type sharedType interface {
	base() *handle
	wireType() uint8
	fill(tx *Txn) error // inserts the content that it was made with
	check() error       // reports content that could not be inserted
}

// A handle is what the application holds of a shared type: a root by name or a nested type by its branch. One that NewText,
// NewMap or NewArray returned belongs to no document until it is inserted into one.
type handle struct {
	doc    *Doc
	name   string
	branch atomic.Pointer[ytypes.Branch]
}

func (h *handle) base() *handle { return h }

// in returns the branch for a write inside of tx.
func (h *handle) in(tx *Txn) *ytypes.Branch {
	tx.use(h.doc)
	b := h.branch.Load()
	if b == nil {
		b = tx.edit.Store.RootBranch([]byte(h.name))
		h.branch.Store(b)
	}
	return b
}

// find returns the branch for reading, nil if there is no such root yet. The caller holds the lock of the document.
func (h *handle) find(s *ytypes.Store) *ytypes.Branch {
	if b := h.branch.Load(); b != nil {
		return b
	}
	return s.Roots[h.name]
}

// read calls fn with the branch, which is nil if there is no such root yet, and with the document locked.
func (h *handle) read(fn func(*ytypes.Store, *ytypes.Branch)) {
	if h.doc == nil {
		return
	}
	h.doc.mu.Lock()
	defer h.doc.mu.Unlock()
	fn(h.doc.store, h.find(h.doc.store))
}

// wrap returns the handle of a nested type, nil if it is a type without API.
func (d *Doc) wrap(b *ytypes.Branch) sharedType {
	if t, ok := b.Handle.(sharedType); ok {
		return t
	}
	var t sharedType
	switch b.TypeRef {
	case wire.TypeText:
		t = &Text{}
	case wire.TypeMap:
		t = &Map{}
	case wire.TypeArray:
		t = &Array{}
	default:
		return nil
	}
	t.base().doc = d
	t.base().branch.Store(b)
	b.Handle = t
	return t
}

// nest inserts the new shared type t as a child between left and right.
func (tx *Txn) nest(t sharedType, left, right structs.Ref, parent int32) structs.Ref {
	s := tx.edit.Store
	b := s.NewBranch(t.wireType())
	h := t.base()
	h.doc = tx.doc
	h.branch.Store(b)
	b.Handle = t
	r := tx.edit.NewLocal(left, right, parent, wire.KindType)
	it := &s.Items[r]
	it.Off, it.Length = uint32(b.Index), 1
	tx.edit.Integrate(r)
	return r
}

// clamp returns v, or the bound of [0, limit] that it exceeds.
func clamp(v, limit int) int { return min(max(v, 0), limit) }
