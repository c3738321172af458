package ycrdt

import (
	"cmp"
	"slices"
	"sort"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// MergeUpdates merges updates of format V1 into one that has the same effect,
// without a document. Where structs between two updates are missing, the
// result says so with a Skip struct, and a document that applies it waits for
// them. The error wraps [ErrMalformed] or is [ErrUpdateV2].
//
// The clients of an update may come in any order. (The mergeUpdates of Yjs
// relies on the highest client coming first; it loses structs of updates that
// others wrote in another order, or writes a client twice.)
func MergeUpdates(updates ...[]byte) ([]byte, error) {
	sorted := make([][]byte, len(updates))
	for i, update := range updates {
		u, err := scanUpdate(update)
		if err != nil {
			return nil, err
		}
		sorted[i] = u.sorted()
	}
	switch len(updates) {
	case 0:
		return []byte{0, 0}, nil
	case 1:
		return slices.Clone(updates[0]), nil
	}
	return mergeScanned(sorted), nil
}

// DiffUpdate returns the part of an update that a peer with the given encoded
// state vector lacks, without a document. Deletions are always included. The
// errors are those of [MergeUpdates].
func DiffUpdate(update, stateVector []byte) ([]byte, error) {
	if _, err := scanUpdate(update); err != nil {
		return nil, err
	}
	have, err := DecodeStateVector(stateVector)
	if err != nil {
		return nil, err
	}
	return diffScanned(update, have), nil
}

// EncodeStateVectorFromUpdate returns the encoded state vector of a document
// that has applied only this update. Clients whose history does not start in
// it, and structs behind a hole, do not count. The errors are those of [MergeUpdates].
func EncodeStateVectorFromUpdate(update []byte) ([]byte, error) {
	if _, err := scanUpdate(update); err != nil {
		return nil, err
	}
	r := newUpdateReader(update, false)
	sv := make(StateVector)
	order := []byte(nil)
	for r.next(); !r.done; r.next() {
		w := &r.curr
		known := sv[w.id.Client]
		if w.kind() != kindSkip && w.id.Clock == known {
			sv[w.id.Client] = w.end()
		}
	}
	for _, client := range r.clients {
		if clock := sv[client]; clock > 0 {
			order = lib0.AppendUint(lib0.AppendUint(order, uint64(client)), clock)
		}
	}
	return append(lib0.AppendUint(nil, uint64(len(sv))), order...), nil
}

// diffScanned is DiffUpdate for a checked update.
func diffScanned(update []byte, have StateVector) []byte {
	r := newUpdateReader(update, false)
	var e updateWriter
	r.next()
	for !r.done {
		client := r.curr.id.Client
		known := have[client]
		if r.curr.kind() == kindSkip || r.curr.end() <= known {
			r.next()
			continue
		}
		e.write(&r.curr, update, max(known, r.curr.id.Clock)-r.curr.id.Clock)
		for r.next(); !r.done && r.curr.id.Client == client; r.next() {
			e.write(&r.curr, update, 0)
		}
	}
	ds := readDeleteSet(&r.Reader)
	ds.normalize()
	return e.finish(ds)
}

// mergeScanned is MergeUpdates for two or more checked updates that each have
// their sections highest client first.
func mergeScanned(updates [][]byte) []byte {
	m := merger{}
	var live []*updateReader
	readers := make([]*updateReader, len(updates))
	for i, update := range updates {
		readers[i] = newUpdateReader(update, true)
		if readers[i].next(); !readers[i].done {
			live = append(live, readers[i])
		}
	}
	slices.SortStableFunc(live, compareReaders)
	for len(live) > 0 {
		m.step(live[0])
		live = resort(live)
	}
	if m.writing {
		m.flush()
	}
	var ds deleteSet
	for _, r := range readers {
		ds = append(ds, readDeleteSet(&r.Reader)...)
	}
	ds.normalize()
	return m.out.finish(ds)
}

func compareReaders(a, b *updateReader) int {
	if a.curr.id.Client != b.curr.id.Client {
		return cmp.Compare(b.curr.id.Client, a.curr.id.Client)
	}
	return cmp.Compare(a.curr.id.Clock, b.curr.id.Clock)
}

// resort restores the order after the first reader has advanced. It puts that
// reader before those it is equal to, as a stable sort of the list would.
func resort(live []*updateReader) []*updateReader {
	first := live[0]
	if first.done {
		return live[1:]
	}
	n := sort.Search(len(live)-1, func(i int) bool { return compareReaders(live[i+1], first) >= 0 })
	copy(live, live[1:n+1])
	live[n] = first
	return live
}

// A merger merges readers in the way of Yjs (mergeUpdatesV2), so that the
// result has the same structs. It holds back the last struct, curr, which may
// turn out to overlap with the next.
type merger struct {
	out     updateWriter
	curr    wireStruct
	data    []byte // in which curr lies
	writing bool
}

func (m *merger) step(r *updateReader) {
	client := r.curr.id.Client
	if !m.writing {
		m.take(r)
	} else {
		skipped := false
		for !r.done && r.curr.end() <= m.curr.end() && r.curr.id.Client >= m.curr.id.Client {
			r.next()
			skipped = true
		}
		if r.done || r.curr.id.Client != client || (skipped && r.curr.id.Clock > m.curr.end()) {
			return
		}
		m.continueWith(r)
	}
	for !r.done && r.curr.id.Client == client && r.curr.id.Clock == m.curr.end() {
		m.flush()
		m.take(r)
	}
}

// continueWith makes what r holds follow curr.
func (m *merger) continueWith(r *updateReader) {
	next := r.curr
	switch {
	case next.id.Client != m.curr.id.Client:
		m.flush()
		m.take(r)
	case m.curr.end() < next.id.Clock:
		m.bridge(&next)
	default:
		m.overlap(r, next)
	}
}

// bridge puts a Skip between curr and a struct that starts later.
func (m *merger) bridge(next *wireStruct) {
	if m.curr.kind() == kindSkip {
		m.curr.length = next.end() - m.curr.id.Clock
		return
	}
	end := m.curr.end()
	m.flush()
	m.curr = wireStruct{id: ID{next.id.Client, end}, length: next.id.Clock - end, info: kindSkip}
}

// overlap joins next, which starts inside curr or where it ends.
func (m *merger) overlap(r *updateReader, next wireStruct) {
	if over := m.curr.end() - next.id.Clock; over > 0 {
		if m.curr.kind() == kindSkip {
			m.curr.length -= over
		} else {
			next = next.slice(r.data, over)
		}
	}
	if kind := m.curr.kind(); kind == next.kind() && (kind == kindGC || kind == kindSkip) {
		m.curr.length += next.length
		return
	}
	m.flush()
	m.curr, m.data = next, r.data
	r.next()
}

func (m *merger) flush() { m.out.write(&m.curr, m.data, 0) }

func (m *merger) take(r *updateReader) {
	m.curr, m.data, m.writing = r.curr, r.data, true
	r.next()
}
