package ycrdt

import (
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

type sharedType interface {
	base() *handle
	wireType() uint8
	fill(tx *Txn) error // inserts the initial content
	check() error       // returns an error if the content cannot be inserted
}

// A handle is the application's reference to a shared type: to a root by its name, or to a nested type by its branch. A
// handle from NewText, NewMap or NewArray belongs to no document until it is inserted into one.
type handle struct {
	doc    *Doc
	name   string
	branch atomic.Pointer[ytypes.Branch]
}

func (h *handle) base() *handle { return h }

func (h *handle) in(tx *Txn) *ytypes.Branch {
	tx.use(h.doc)
	b := h.branch.Load()
	if b == nil {
		b = tx.edit.Store.RootBranch([]byte(h.name))
		h.branch.Store(b)
	}
	return b
}

// find returns the branch for reading, or nil if the root does not exist yet. The caller holds the lock of the
// document.
func (h *handle) find(s *ytypes.Store) *ytypes.Branch {
	if b := h.branch.Load(); b != nil {
		return b
	}
	return s.Roots[h.name]
}

// read locks the document and calls fn with the branch, or nil if the root does not exist yet.
func (h *handle) read(fn func(*ytypes.Store, *ytypes.Branch)) {
	if h.doc == nil {
		return
	}
	h.doc.mu.Lock()
	defer h.doc.mu.Unlock()
	fn(h.doc.store, h.find(h.doc.store))
}

// wrap returns the handle of a nested type, or nil for a type without an API.
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

func clamp(v, limit int) int { return min(max(v, 0), limit) }
