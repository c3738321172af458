package ycrdt

// integrateStruct integrates the struct w of the client home from unit offset
// on; what comes before is in the store already. All that w refers to is there.
func (p *planner) integrateStruct(w *wireStruct, home uint32, offset uint64) {
	tx, s := p.tx, p.store
	var left, right ref
	if w.info&infoOrigin != 0 {
		left = p.leftOf(w, home)
	}
	if w.info&infoRight != 0 {
		right = p.rightOf(w, left)
	}
	parent := p.parentOf(w, left, right)
	if offset > 0 && parent != 0 {
		left = tx.itemEnding(home, w.id.Clock+offset-1)
		parent = s.items[left].parent // 0 if that is a GC struct
	}
	r := s.newItem()
	it := &s.items[r]
	s.setClock(it, home, w.id.Clock+offset)
	if parent == 0 {
		it.kind, it.flags = kindGC, flagDeleted
		it.setUnits(w.length - offset)
		tx.append(r)
		return
	}
	it.left, it.right, it.parent, it.kind = left, right, parent, w.kind()
	p.setOrigins(it, w, home, offset)
	s.setContent(it, w, p.data, offset)
	tx.integrate(r)
}

// leftOf returns the item that ends with the left origin of w. Often that is
// the client's last one.
func (p *planner) leftOf(w *wireStruct, home uint32) ref {
	x := &p.store.clients[home].index
	if w.origin.Clock+1 == w.id.Clock && w.origin.Client == w.id.Client && p.store.clients[home].next == w.id.Clock {
		last := &x.chunks[len(x.chunks)-1]
		return last.at(last.len() - 1)
	}
	return p.tx.itemEnding(p.lookup(w.origin.Client), w.origin.Clock)
}

// rightOf returns the item that starts with the right origin of w. Mostly it
// is the one after left.
func (p *planner) rightOf(w *wireStruct, left ref) ref {
	s := p.store
	home := p.lookup(w.right.Client)
	if left != 0 && s.items[left].right != 0 {
		next := s.items[left].right
		if it := &s.items[next]; s.homeOf(it) == home && s.clockOf(it) == w.right.Clock {
			return next
		}
	}
	return p.tx.itemStarting(home, w.right.Clock)
}

// noteCuts deals with a struct that is in the store already. Yjs splits the
// items that hold its origins all the same, and at commit merges around these
// places, which may join more than was split: collecting nested types leaves
// GC structs unmerged. Noting the places has the same effect.
func (p *planner) noteCuts(w *wireStruct) {
	if w.info&infoOrigin != 0 {
		p.tx.noteCut(p.lookup(w.origin.Client), w.origin.Clock, w.origin.Clock+1)
	}
	if w.info&infoRight != 0 {
		p.tx.noteCut(p.lookup(w.right.Client), w.right.Clock, w.right.Clock)
	}
}

// noteCut notes the place before the unit at, if that lies inside of the item
// that holds clock.
func (tx *Txn) noteCut(home uint32, clock, at uint64) {
	s := tx.store
	it := &s.items[s.findItem(home, clock)]
	if it.kind != kindGC && at != s.clockOf(it) && at != s.endOf(it) {
		tx.mergeAt = append(tx.mergeAt, unit{home, at})
	}
}

// setOrigins sets the origins of it as they stand in w. The origin of what is
// left of a cut struct is the last unit that was cut off.
func (p *planner) setOrigins(it *item, w *wireStruct, home uint32, offset uint64) {
	s := p.store
	if offset > 0 {
		it.origin, it.originClock = s.narrow(home, w.id.Clock+offset-1)
	} else if w.info&infoOrigin != 0 {
		it.origin, it.originClock = s.narrow(p.lookup(w.origin.Client), w.origin.Clock)
	}
	if w.info&infoRight != 0 {
		it.rightOrigin, it.rightClock = s.narrow(p.lookup(w.right.Client), w.right.Clock)
	}
}

// parentOf returns the parent of w as an item names it, 0 if w becomes a GC
// struct because its surroundings have been collected or its parent is no type.
func (p *planner) parentOf(w *wireStruct, left, right ref) int32 {
	s := p.store
	switch {
	case w.kind() == kindGC,
		left != 0 && s.items[left].kind == kindGC,
		right != 0 && s.items[right].kind == kindGC:
		return 0
	case left != 0:
		return s.items[left].parent
	case right != 0:
		return s.items[right].parent
	}
	var b *branch
	if w.inRoot {
		b = s.rootBranch(w.root.of(p.data))
	} else {
		it := &s.items[s.findItem(p.lookup(w.parent.Client), w.parent.Clock)]
		if it.kind != kindType {
			return 0
		}
		b = s.branches[it.off]
	}
	if w.info&infoParentSub != 0 {
		return -s.entryFor(b, w.sub.of(p.data))
	}
	return b.index
}

// setContent stores the content of w, which lies in data, from unit offset on
// as that of it.
func (s *store) setContent(it *item, w *wireStruct, data []byte, offset uint64) {
	switch it.kind {
	case kindDeleted:
		it.setUnits(w.length - offset)
		return
	case kindType:
		b := s.newBranch(w.typeRef)
		b.name = append([]byte(nil), w.content.of(data)...)
		it.off, it.length = uint32(b.index), 1
		return
	}
	it.length = uint32(w.length - offset)
	if offset == 0 {
		it.off, it.size = s.put(w.content.of(data))
		return
	}
	prefix, rest := sliceContent(it.kind, w.content.of(data), offset)
	it.off = uint32(len(s.arena))
	s.arena = append(append(s.arena, prefix...), rest...)
	it.size = uint32(len(s.arena)) - it.off
}
