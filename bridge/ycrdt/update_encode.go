package ycrdt

import (
	"iter"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// EncodeStateAsUpdate returns, as an update of format V1, everything that a
// peer with the given encoded state vector lacks: the structs it has not seen
// and all deletions, including what waits here for missing updates. A nil
// vector asks for the whole document; so does, because that is always a right
// answer, one that does not decode (see [DecodeStateVector] to tell).
func (d *Doc) EncodeStateAsUpdate(stateVector []byte) []byte {
	var have StateVector
	if len(stateVector) > 0 {
		have, _ = DecodeStateVector(stateVector)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.store
	update := s.encodeState(have)
	if len(s.pending.deletes) == 0 && len(s.pending.updates) == 0 {
		return update
	}
	updates := [][]byte{update}
	if len(s.pending.deletes) > 0 {
		updates = append(updates, s.pending.deletes.appendTo([]byte{0}))
	}
	if structs := s.pending.structs(); structs != nil {
		updates = append(updates, diffScanned(structs, have))
	}
	return mergeScanned(updates)
}

// encodeState encodes all structs from the clocks in have on, and the deletes.
func (s *store) encodeState(have StateVector) []byte {
	active := s.activeClients()
	lacking := active[:0:0]
	for _, home := range active {
		if s.clients[home].next > have[s.clients[home].id] {
			lacking = append(lacking, home)
		}
	}
	var dst []byte
	if len(have) == 0 {
		dst = make([]byte, 0, len(s.arena)-s.dead+12*(len(s.items)-s.freeCount)+16)
	}
	dst = lib0.AppendUint(dst, uint64(len(lacking)))
	for _, home := range lacking {
		dst = s.appendClient(dst, home, have[s.clients[home].id])
	}
	return s.appendDeletes(dst, active)
}

// encodeTransaction encodes what tx, which is committed, has changed.
func (s *store) encodeTransaction(tx *Txn) []byte {
	s.sortDescending(tx.touched)
	dst := lib0.AppendUint(nil, uint64(len(tx.touched)))
	for _, home := range tx.touched {
		dst = s.appendClient(dst, home, s.clients[home].before)
	}
	return tx.deletes.appendTo(dst)
}

// deletedRuns iterates over the deleted ranges, as clock and length, of one client.
func (s *store) deletedRuns(home uint32) iter.Seq2[uint64, uint64] {
	return func(yield func(clock, length uint64) bool) {
		start, clock := uint64(0), uint64(0) // of the run; what comes next
		chunks := s.clients[home].index.chunks
		for i := range chunks {
			for j := range chunks[i].len() {
				it := &s.items[chunks[i].at(j)]
				if it.deleted() {
					clock += it.units()
					continue
				}
				if clock > start && !yield(start, clock-start) {
					return
				}
				clock += it.units()
				start = clock
			}
		}
		if clock > start {
			yield(start, clock-start)
		}
	}
}

// deleteSet returns everything that is deleted, for clients in descending order.
func (s *store) deleteSet(clients []uint32) (ds deleteSet) {
	for _, home := range clients {
		for clock, length := range s.deletedRuns(home) {
			ds = append(ds, idRange{s.clients[home].id, clock, length})
		}
	}
	return ds
}

// appendDeletes appends the wire form of deleteSet(clients).
func (s *store) appendDeletes(dst []byte, clients []uint32) []byte {
	runs := make([]uint64, len(clients))
	withRuns := uint64(0)
	for i, home := range clients {
		for range s.deletedRuns(home) {
			runs[i]++
		}
		if runs[i] > 0 {
			withRuns++
		}
	}
	dst = lib0.AppendUint(dst, withRuns)
	for i, home := range clients {
		if runs[i] == 0 {
			continue
		}
		dst = lib0.AppendUint(dst, uint64(s.clients[home].id))
		dst = lib0.AppendUint(dst, runs[i])
		for clock, length := range s.deletedRuns(home) {
			dst = lib0.AppendUint(dst, clock)
			dst = lib0.AppendUint(dst, length)
		}
	}
	return dst
}

// appendClient appends the section with the structs of a client from clock on.
func (s *store) appendClient(dst []byte, home uint32, clock uint64) []byte {
	c := &s.clients[home]
	x := &c.index
	p := s.find(x, clock)
	count := x.chunks[p.c].len() - p.i
	for _, ch := range x.chunks[p.c+1:] {
		count += ch.len()
	}
	dst = lib0.AppendUint(dst, uint64(count))
	dst = lib0.AppendUint(dst, uint64(c.id))
	dst = lib0.AppendUint(dst, clock)
	first := &s.items[x.at(p)]
	dst = s.appendItem(dst, first, clock-s.clockOf(first))
	for ci, from := p.c, p.i+1; ci < len(x.chunks); ci, from = ci+1, 0 {
		ch := &x.chunks[ci]
		for i := from; i < ch.len(); i++ {
			dst = s.appendItem(dst, &s.items[ch.at(i)], 0)
		}
	}
	return dst
}

// appendItem appends the struct it from unit offset on.
func (s *store) appendItem(dst []byte, it *item, offset uint64) []byte {
	if it.kind == kindGC {
		return lib0.AppendUint(append(dst, kindGC), it.units()-offset)
	}
	info := it.kind
	if it.origin != 0 || offset > 0 {
		info |= infoOrigin
	}
	if it.rightOrigin != 0 {
		info |= infoRight
	}
	if it.parent < 0 {
		info |= infoParentSub
	}
	dst = append(dst, info)
	if offset > 0 {
		dst = appendID(dst, ID{s.idOf(it).Client, s.clockOf(it) + offset - 1})
	} else if it.origin != 0 {
		c := &s.clients[it.origin]
		dst = appendID(dst, ID{c.id, c.base | uint64(it.originClock)})
	}
	if it.rightOrigin != 0 {
		c := &s.clients[it.rightOrigin]
		dst = appendID(dst, ID{c.id, c.base | uint64(it.rightClock)})
	}
	if info&(infoOrigin|infoRight) == 0 {
		dst = s.appendParent(dst, it)
	}
	switch it.kind {
	case kindDeleted:
		return lib0.AppendUint(dst, it.units()-offset)
	case kindType:
		b := s.branches[it.off]
		return appendType(dst, b.typeRef, b.name)
	}
	return appendContent(dst, it.kind, s.bytesOf(it), uint64(it.length), offset)
}

func appendID(dst []byte, id ID) []byte {
	return lib0.AppendUint(lib0.AppendUint(dst, uint64(id.Client)), id.Clock)
}

func (s *store) appendParent(dst []byte, it *item) []byte {
	if b := s.branchOf(it); b.item == 0 {
		dst = lib0.AppendString(append(dst, 1), b.root)
	} else {
		dst = appendID(append(dst, 0), s.idOf(&s.items[b.item]))
	}
	if it.parent < 0 {
		dst = lib0.AppendString(dst, s.entries[-it.parent].key)
	}
	return dst
}

func appendType(dst []byte, typeRef uint8, name []byte) []byte {
	dst = append(dst, typeRef)
	if typeRef == typeXMLElement || typeRef == typeXMLHook {
		dst = lib0.AppendBytes(dst, name)
	}
	return dst
}

// appendContent appends the wire form of content that has length units, from
// unit offset on.
func appendContent(dst []byte, kind uint8, content []byte, length, offset uint64) []byte {
	prefix := ""
	if offset > 0 {
		prefix, content = sliceContent(kind, content, offset)
	}
	switch kind {
	case kindString, kindBinary, kindEmbed:
		dst = lib0.AppendUint(dst, uint64(len(prefix)+len(content)))
	case kindAny, kindJSON:
		dst = lib0.AppendUint(dst, length-offset)
	}
	return append(append(dst, prefix...), content...)
}
