package ycrdt

// Commit ends a transaction as Yjs does (cleanupTransactions): the content of
// what was deleted goes, then neighbours that look as if they had been
// inserted at once become one item. Which do is part of the wire format: two
// peers that made the same history encode the same bytes.

func (tx *Txn) commit() {
	tx.deletes.normalize()
	tx.collectGarbage()
	tx.mergeDeleted()
	tx.mergeAppended()
	tx.mergeSplits()
	tx.store.compactArena()
	tx.store.compactItems()
	tx.renewClientID()
	for _, b := range tx.changed {
		b.committed.Store(nil)
	}
}

// empty reports whether nothing has changed.
func (tx *Txn) empty() bool { return len(tx.touched) == 0 && len(tx.deletes) == 0 }

// renewClientID picks a new client id when somebody else writes with ours.
func (tx *Txn) renewClientID() {
	d := tx.doc
	if tx.local {
		return
	}
	for _, home := range tx.touched {
		if tx.store.clients[home].id == d.ClientID() {
			d.clientID.Store(uint64(d.freshClientID()))
			return
		}
	}
}

// collectGarbage replaces the content of what this transaction deleted, and
// turns the children of deleted types into GC structs.
func (tx *Txn) collectGarbage() {
	s := tx.store
	if !tx.garbage {
		return
	}
	for _, r := range tx.deletes {
		home := s.lookupClient(r.client)
		x := &s.clients[home].index
		for p, ok := s.find(x, r.clock), true; ok; p, ok = x.next(p) {
			at := x.at(p)
			it := &s.items[at]
			if s.clockOf(it) >= r.end() {
				break
			}
			if it.deleted() && it.kind > kindDeleted {
				tx.collect(it)
			}
		}
	}
}

func (tx *Txn) collect(it *item) {
	s := tx.store
	if it.kind != kindType {
		s.dropContent(it)
		return
	}
	dropped := []*branch{s.branches[it.off]}
	s.dropContent(it)
	for n := len(dropped); n > 0; n = len(dropped) {
		b := dropped[n-1]
		dropped = dropped[:n-1]
		for r := b.start; r != 0; {
			r, dropped = s.forget(r, s.items[r].right, dropped)
		}
		for _, e := range b.keyOrder {
			for r := s.entries[e].head; r != 0; {
				r, dropped = s.forget(r, s.items[r].left, dropped)
			}
		}
		s.dropBranch(b)
	}
}

// forget makes a GC struct of r, adds its branch to dropped if it is a type,
// and returns next.
func (s *store) forget(r, next ref, dropped []*branch) (ref, []*branch) {
	it := &s.items[r]
	if it.kind == kindType {
		dropped = append(dropped, s.branches[it.off])
	}
	s.dropContent(it)
	*it = item{
		kind: kindGC, flags: flagDeleted,
		client: it.client, clock: it.clock, length: it.length, size: it.size,
	}
	return next, dropped
}

// mergeable reports whether the structs l and r, neighbours in the history of
// one client, become one struct.
func (s *store) mergeable(l, r ref) bool {
	left, right := &s.items[l], &s.items[r]
	if left.kind != right.kind {
		return false
	}
	if left.kind == kindGC {
		return true
	}
	return left.right == r &&
		left.flags == right.flags &&
		left.rightOrigin == right.rightOrigin && left.rightClock == right.rightClock &&
		mergeableKind(left.kind) &&
		right.origin != 0 && s.followsOn(left, right)
}

// followsOn reports whether the origin of right is the last unit of left.
func (s *store) followsOn(left, right *item) bool {
	from := &s.clients[right.origin]
	return from.home == s.homeOf(left) && from.base|uint64(right.originClock) == s.endOf(left)-1
}

// absorb appends the struct r to l, unlinks it and gives its slot back. The
// history of the client is left to the caller.
func (s *store) absorb(l, r ref) {
	left, right := &s.items[l], &s.items[r]
	if left.kind != kindGC {
		if right.parent > 0 {
			if px := s.branches[right.parent].positions; px != nil {
				px.merge(s, l, r)
			}
		} else if e := &s.entries[-right.parent]; e.head == r {
			e.head = l
		}
		left.right = right.right
		if left.right != 0 {
			s.items[left.right].left = l
		}
	}
	s.mergeContent(left, right)
	s.freeItem(r)
}

// mergeLeft merges the struct at p into those before it as far as that goes.
// It returns the place of the merged struct and how many it took in.
func (s *store) mergeLeft(x *clockIndex, p clockPos) (clockPos, int) {
	merged := 0
	for {
		q, ok := x.prev(p)
		if !ok || !s.mergeable(x.at(q), x.at(p)) {
			return p, merged
		}
		r := x.at(p)
		p = s.remove(x, p)
		s.absorb(x.at(p), r)
		merged++
	}
}

// mergeDeleted merges in and around what this transaction deleted of what was
// there before; mergeAppended sees to the rest.
func (tx *Txn) mergeDeleted() {
	s := tx.store
	for i := len(tx.deletes) - 1; i >= 0; i-- {
		r := tx.deletes[i]
		home := s.lookupClient(r.client)
		if r.clock >= tx.clockBefore(home) {
			continue
		}
		x := &s.clients[home].index
		p := s.find(x, r.end()-1)
		if q, ok := x.next(p); ok {
			p = q
		}
		for s.clockOf(&s.items[x.at(p)]) >= r.clock {
			p, _ = s.mergeLeft(x, p)
			q, ok := x.prev(p)
			if !ok {
				break
			}
			p = q
		}
	}
}

// mergeAppended merges what this transaction added to each client's history,
// among itself and with what was there before.
func (tx *Txn) mergeAppended() {
	s := tx.store
	for _, home := range tx.touched {
		c := &s.clients[home]
		x := &c.index
		p := s.find(x, c.before)
		if q, ok := x.prev(p); ok {
			p = q
		}
		for ok := true; ok; {
			q := p
			if p, ok = x.next(p); ok && s.mergeable(x.at(q), x.at(p)) {
				s.mergeTail(x, q)
				break
			}
		}
		// What has taken in something new may now merge to its left: collecting
		// nested types leaves GC structs unmerged.
		if p = s.find(x, c.before); s.clockOf(&s.items[x.at(p)]) < c.before {
			s.mergeLeft(x, p)
		}
	}
}

// mergeTail merges all neighbours from place p, whose struct absorbs the next
// one, to the end. Unlike mergeLeft it moves each ref at most once.
func (s *store) mergeTail(x *clockIndex, p clockPos) {
	l := x.at(p)
	first := clockPos{p.c, p.i + 1}
	var kept []ref
	for {
		q, ok := x.next(p)
		if !ok {
			break
		}
		p = q
		r := x.at(p)
		if s.mergeable(l, r) {
			s.absorb(l, r)
			continue
		}
		kept = append(kept, r)
		l = r
	}
	s.replaceTail(x, first, kept)
}

// replaceTail makes refs what the history holds from place p on.
func (s *store) replaceTail(x *clockIndex, p clockPos, refs []ref) {
	if p.i < x.chunks[p.c].len() {
		x.truncate(p)
	} else {
		x.truncate(clockPos{p.c + 1, 0})
	}
	for _, r := range refs {
		x.append(r, s.clockOf(&s.items[r]))
	}
}

// mergeSplits merges around the places where this transaction split an item.
func (tx *Txn) mergeSplits() {
	s := tx.store
	for i := len(tx.mergeAt) - 1; i >= 0; i-- {
		at := tx.mergeAt[i]
		x := &s.clients[at.home].index
		p := s.find(x, at.clock)
		if q, ok := x.next(p); ok {
			merged := 0
			if p, merged = s.mergeLeft(x, q); merged > 1 {
				continue
			}
			if merged == 0 {
				p, _ = x.prev(p)
			}
		}
		s.mergeLeft(x, p)
	}
}
