package ycrdt

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// Most documents are loaded whole, and most of those have one writer. Then one
// pass over the update does: what the empty document takes in before an error
// shows is thrown away. Everything else is checked in a pass of its own.

// pristine reports whether nothing was ever asked of the document or put into it.
func (s *store) pristine() bool {
	return len(s.clients) == 1 && len(s.branches) == 1 && s.pending.size() == 0
}

// applyFirst applies an update with structs of one client to a pristine
// document. done is false if the update is not of that kind, or the document
// not pristine.
func (d *Doc) applyFirst(update []byte, origin any) (done bool, err error) {
	d.mu.Lock()
	defer d.events.deliver()
	defer d.mu.Unlock()
	c := cursor{structReader: structReader{Reader: lib0.NewReader(update), check: true}}
	if !d.store.pristine() || c.Uint() != 1 || len(update) > maxArena {
		return false, nil
	}
	if c.section(); c.Err() != nil {
		return false, nil
	}
	tx := &d.txn
	tx.begin(origin, false)
	d.store.reserve(min(int(c.left), len(update)/8), len(update))
	p := planner{store: d.store, tx: tx, data: update, cursors: []cursor{c}}
	if err := tx.takeFirst(&p); err != nil {
		tx.end()
		*d.store = *newStore()
		return true, err
	}
	d.store.trim()
	d.finish()
	return true, nil
}

// takeFirst integrates the only section of p and then the deletes.
func (tx *Txn) takeFirst(p *planner) error {
	rest := p.drain()
	r := &p.cursors[0].Reader
	deletes := readDeleteSet(r)
	if err := r.Err(); err != nil {
		return fmt.Errorf("update: %w: %w", ErrMalformed, err)
	}
	deletes.normalize()
	pending := &tx.store.pending
	pending.addStructs(rest)
	if pending.deletes = tx.applyDeletes(deletes); pending.size() > maxPending {
		return ErrPendingLimit
	}
	return nil
}

// trim gives back what reserve took too much of.
func (s *store) trim() {
	if n := len(s.arena); cap(s.arena) > n+n/8 {
		s.arena = append(make([]byte, 0, n), s.arena...)
	}
	if n := len(s.items); cap(s.items) > n+n/8 {
		s.items = append(make([]item, 0, n), s.items...)
	}
}
