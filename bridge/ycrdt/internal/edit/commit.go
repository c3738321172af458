package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Commit ends a transaction as Yjs does (cleanupTransactions): it drops deleted content, then merges neighbours that
// could also have been inserted in one operation. The choice of merges is part of the wire format: two peers with the
// same history encode the same bytes.
func (tx *Txn) Commit() {
	tx.Deletes.Normalize()
	tx.collectGarbage()
	tx.mergeDeleted()
	tx.mergeAppended()
	tx.mergeSplits()
	tx.Store.Compact()
	for _, b := range tx.changed {
		b.Committed.Store(nil)
	}
}

// collectGarbage drops the content of the items that this transaction deleted, and turns the children of deleted types
// into GC structs.
func (tx *Txn) collectGarbage() {
	s := tx.Store
	if !tx.garbage {
		return
	}
	for _, r := range tx.Deletes {
		home := s.LookupClient(r.Client)
		x := &s.Clients[home].Index
		for p, ok := s.Find(x, r.Clock), true; ok; p, ok = x.Next(p) {
			at := x.At(p)
			it := &s.Items[at]
			if it.From() >= r.End() {
				break
			}
			if it.Deleted() && it.Kind > wire.KindDeleted {
				tx.collect(it)
			}
		}
	}
}

func (tx *Txn) collect(it *structs.Item) {
	s := tx.Store
	if it.Kind != wire.KindType {
		s.Arena.Drop(it)
		return
	}
	dropped := []*ytypes.Branch{s.Branches[it.Off]}
	s.Arena.Drop(it)
	for n := len(dropped); n > 0; n = len(dropped) {
		b := dropped[n-1]
		dropped = dropped[:n-1]
		for r := b.Start; r != 0; {
			r, dropped = s.Forget(r, s.Items[r].Right, dropped)
		}
		for _, e := range b.KeyOrder {
			for r := s.Entries[e].Head; r != 0; {
				r, dropped = s.Forget(r, s.Items[r].Left, dropped)
			}
		}
		s.DropBranch(b)
	}
}

// mergeDeleted merges older items that this transaction deleted, with each other and with their neighbours.
// mergeAppended merges new items.
func (tx *Txn) mergeDeleted() {
	s := tx.Store
	for i := len(tx.Deletes) - 1; i >= 0; i-- {
		r := tx.Deletes[i]
		home := s.LookupClient(r.Client)
		if r.Clock >= tx.clockBefore(home) {
			continue
		}
		x := &s.Clients[home].Index
		p := s.Find(x, r.End()-1)
		if q, ok := x.Next(p); ok {
			p = q
		}
		for s.Items[x.At(p)].From() >= r.Clock {
			p, _ = s.MergeLeft(x, p)
			q, ok := x.Prev(p)
			if !ok {
				break
			}
			p = q
		}
	}
}

// mergeAppended merges the items that this transaction added to each client's history, with each other and with older
// items.
func (tx *Txn) mergeAppended() {
	s := tx.Store
	for _, home := range tx.Touched {
		c := &s.Clients[home]
		x := &c.Index
		p := s.Find(x, c.Before)
		if q, ok := x.Prev(p); ok {
			p = q
		}
		for ok := true; ok; {
			q := p
			if p, ok = x.Next(p); ok && s.Mergeable(x.At(q), x.At(p)) {
				s.MergeTail(x, q)
				break
			}
		}
		// A struct that has absorbed a new struct may now merge with the struct on its left, because collecting nested
		// types leaves GC structs unmerged.
		if p = s.Find(x, c.Before); s.Items[x.At(p)].From() < c.Before {
			s.MergeLeft(x, p)
		}
	}
}

// mergeSplits merges items at the places in mergeAt, which are mostly those where this transaction split an item.
func (tx *Txn) mergeSplits() {
	s := tx.Store
	for i := len(tx.mergeAt) - 1; i >= 0; i-- {
		at := tx.mergeAt[i]
		x := &s.Clients[at.home].Index
		p := s.Find(x, at.clock)
		if q, ok := x.Next(p); ok {
			merged := 0
			if p, merged = s.MergeLeft(x, q); merged > 1 {
				continue
			}
			if merged == 0 {
				p, _ = x.Prev(p)
			}
		}
		s.MergeLeft(x, p)
	}
}
