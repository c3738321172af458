package ycrdt

import (
	"sync/atomic"
)

// A sharedType is a *Text, *Map or *Array.
type sharedType interface {
	base() *handle
	json(s *store, depth int) any
	wireType() uint8
	fill(tx *Txn) error // inserts the content that it was made with
	check() error       // reports content that could not be inserted
}

// A handle is what the application holds of a shared type: a root by name or a
// nested type by its branch. One that NewText, NewMap or NewArray returned
// belongs to no document until it is inserted into one.
type handle struct {
	doc    *Doc
	name   string
	branch atomic.Pointer[branch]
}

func (h *handle) base() *handle { return h }

// in returns the branch for a write inside of tx.
func (h *handle) in(tx *Txn) *branch {
	tx.use(h.doc)
	b := h.branch.Load()
	if b == nil {
		b = tx.store.rootBranch([]byte(h.name))
		h.branch.Store(b)
	}
	return b
}

// find returns the branch for reading, nil if there is no such root yet. The
// caller holds the lock of the document.
func (h *handle) find(s *store) *branch {
	if b := h.branch.Load(); b != nil {
		return b
	}
	return s.roots[h.name]
}

// read calls fn with the branch, which is nil if there is no such root yet,
// and with the document locked.
func (h *handle) read(fn func(*store, *branch)) {
	if h.doc == nil {
		return
	}
	h.doc.mu.Lock()
	defer h.doc.mu.Unlock()
	fn(h.doc.store, h.find(h.doc.store))
}

// wrap returns the handle of a nested type, nil if it is a type without API.
func (s *store) wrap(doc *Doc, b *branch) sharedType {
	if b.handle != nil {
		return b.handle
	}
	var t sharedType
	switch b.typeRef {
	case typeText:
		t = &Text{}
	case typeMap:
		t = &Map{}
	case typeArray:
		t = &Array{}
	default:
		return nil
	}
	t.base().doc = doc
	t.base().branch.Store(b)
	b.handle = t
	return t
}

// nest inserts the new shared type t as a child between left and right.
func (tx *Txn) nest(t sharedType, left, right ref, parent int32) ref {
	s := tx.store
	b := s.newBranch(t.wireType())
	h := t.base()
	h.doc = tx.doc
	h.branch.Store(b)
	b.handle = t
	r := tx.newLocal(left, right, parent, kindType)
	it := &s.items[r]
	it.off, it.length = uint32(b.index), 1
	tx.integrate(r)
	return r
}

// newLocal returns a new item of this document's client between left and
// right, ready to receive content and to be integrated.
func (tx *Txn) newLocal(left, right ref, parent int32, kind uint8) ref {
	s := tx.store
	home := s.addClient(tx.doc.ClientID())
	r := s.newItem()
	it := &s.items[r]
	s.setClock(it, home, s.clients[home].next)
	it.left, it.right, it.parent, it.kind = left, right, parent, kind
	if left != 0 {
		l := &s.items[left]
		it.origin, it.originClock = s.narrow(s.homeOf(l), s.endOf(l)-1)
	}
	if right != 0 {
		r := &s.items[right]
		it.rightOrigin, it.rightClock = r.client, r.clock
	}
	return r
}
