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
	e := encoder{store: s}
	total := len(s.arena) - s.dead
	active := s.activeClients()
	lacking := active[:0:0]
	for _, home := range active {
		if s.clients[home].next > have[s.clients[home].id] {
			lacking = append(lacking, home)
		}
	}
	if len(have) == 0 {
		e.dst = make([]byte, 0, total+12*(len(s.items)-s.freeCount)+16)
	}
	e.dst = lib0.AppendUint(e.dst, uint64(len(lacking)))
	for _, home := range lacking {
		e.client(home, have[s.clients[home].id])
	}
	return s.appendDeletes(e.dst, active)
}

// encodeTransaction encodes what tx, which is committed, has changed.
func (s *store) encodeTransaction(tx *Txn) []byte {
	s.sortDescending(tx.touched)
	e := encoder{store: s}
	e.dst = lib0.AppendUint(nil, uint64(len(tx.touched)))
	for _, home := range tx.touched {
		e.client(home, s.clients[home].before)
	}
	return tx.deletes.appendTo(e.dst)
}

// deletedRuns iterates over the deleted ranges, as clock and length, of one client.
func (s *store) deletedRuns(home uint32) iter.Seq2[uint64, uint64] {
	return func(yield func(clock, length uint64) bool) {
		start, clock := uint64(0), uint64(0) // of the run; what comes next
		chunks := s.clients[home].index.chunks
		for i := range chunks {
			for j := range chunks[i].len() {
				it := &s.items[chunks[i].at(j)]
				if n := it.units(); it.deleted() {
					clock += n
					continue
				} else if clock > start && !yield(start, clock-start) {
					return
				} else {
					clock += n
				}
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

// An encoder writes structs of the store.
type encoder struct {
	store *store
	dst   []byte
}

// client writes the section with the structs of a client from clock on.
func (e *encoder) client(home uint32, clock uint64) {
	s := e.store
	c := &s.clients[home]
	x := &c.index
	p := s.find(x, clock)
	count := x.chunks[p.c].len() - p.i
	for _, ch := range x.chunks[p.c+1:] {
		count += ch.len()
	}
	e.dst = lib0.AppendUint(e.dst, uint64(count))
	e.dst = lib0.AppendUint(e.dst, uint64(c.id))
	e.dst = lib0.AppendUint(e.dst, clock)
	first := &s.items[x.at(p)]
	e.item(first, clock-s.clockOf(first))
	for ci, from := p.c, p.i+1; ci < len(x.chunks); ci, from = ci+1, 0 {
		ch := &x.chunks[ci]
		for i := from; i < ch.len(); i++ {
			e.item(&s.items[ch.at(i)], 0)
		}
	}
}

// item writes the struct it from unit offset on.
func (e *encoder) item(it *item, offset uint64) {
	if it.kind == kindGC {
		e.dst = lib0.AppendUint(append(e.dst, kindGC), it.units()-offset)
		return
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
	e.dst = append(e.dst, info)
	if offset > 0 {
		e.id(e.store.idOf(it).Client, e.store.clockOf(it)+offset-1)
	} else if it.origin != 0 {
		c := &e.store.clients[it.origin]
		e.id(c.id, c.base|uint64(it.originClock))
	}
	if it.rightOrigin != 0 {
		c := &e.store.clients[it.rightOrigin]
		e.id(c.id, c.base|uint64(it.rightClock))
	}
	if info&(infoOrigin|infoRight) == 0 {
		e.parent(it)
	}
	e.content(it, offset)
}

func (e *encoder) id(client ClientID, clock uint64) {
	e.dst = lib0.AppendUint(lib0.AppendUint(e.dst, uint64(client)), clock)
}

func (e *encoder) parent(it *item) {
	s := e.store
	if b := s.branchOf(it); b.item == 0 {
		e.dst = lib0.AppendString(append(e.dst, 1), b.root)
	} else {
		e.dst = append(e.dst, 0)
		id := s.idOf(&s.items[b.item])
		e.id(id.Client, id.Clock)
	}
	if it.parent < 0 {
		e.dst = lib0.AppendString(e.dst, s.entries[-it.parent].key)
	}
}

func (e *encoder) content(it *item, offset uint64) {
	s := e.store
	if it.kind == kindDeleted {
		e.dst = lib0.AppendUint(e.dst, it.units()-offset)
		return
	}
	if it.kind == kindType {
		e.typeContent(s.branches[it.off])
		return
	}
	e.dst = appendContent(e.dst, it.kind, s.bytesOf(it), uint64(it.length), offset)
}

func (e *encoder) typeContent(b *branch) {
	e.dst = append(e.dst, b.typeRef)
	if b.typeRef == typeXMLElement || b.typeRef == typeXMLHook {
		e.dst = lib0.AppendBytes(e.dst, b.name)
	}
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
