package wire

import (
	"cmp"
	"slices"
	"sort"
)

// Merge merges updates into one with the same effect. The result marks missing structs between two updates with a Skip
// struct. The error wraps [ErrMalformed] or is [ErrUpdateV2].
func Merge(updates ...[]byte) ([]byte, error) {
	sorted := make([][]byte, len(updates))
	for i, update := range updates {
		u, err := Scan(update)
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
	return MergeScanned(sorted), nil
}

// DiffScanned returns the part of a checked update that a peer with the given state vector lacks, and all deletions.
func DiffScanned(update []byte, have StateVector) []byte {
	r := newUpdateReader(update, false)
	var e updateWriter
	r.next()
	for !r.done {
		client := r.curr.ID.Client
		known := have[client]
		if r.curr.Kind() == KindSkip || r.curr.End() <= known {
			r.next()
			continue
		}
		e.write(&r.curr, update, max(known, r.curr.ID.Clock)-r.curr.ID.Clock)
		for r.next(); !r.done && r.curr.ID.Client == client; r.next() {
			e.write(&r.curr, update, 0)
		}
	}
	ds := ReadDeleteSet(&r.Reader)
	ds.Normalize()
	return e.finish(ds)
}

// MergeScanned is [Merge] for two or more checked updates. The sections of each update must begin with the highest
// client.
func MergeScanned(updates [][]byte) []byte {
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
	var ds DeleteSet
	for _, r := range readers {
		ds = append(ds, ReadDeleteSet(&r.Reader)...)
	}
	ds.Normalize()
	return m.out.finish(ds)
}

// compareReaders orders readers by their next struct. As in Yjs, a GC struct and an item at the same clock are each
// less than the other, so that the form in the later of two updates stays.
func compareReaders(a, b *updateReader) int {
	if order := cmp.Or(
		cmp.Compare(b.curr.ID.Client, a.curr.ID.Client),
		cmp.Compare(a.curr.ID.Clock, b.curr.ID.Clock),
	); order != 0 {
		return order
	}
	if (a.curr.Kind() == KindGC) != (b.curr.Kind() == KindGC) {
		return -1
	}
	return 0
}

// resort restores the order of live after the first reader has advanced. It puts that reader before equal readers, as a
// stable sort of the list would.
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

// A merger merges readers as Yjs does (mergeUpdatesV2), so that the result has the same structs. It holds back the last
// struct, curr, because the next struct may overlap with it.
type merger struct {
	out     updateWriter
	curr    Struct
	cut     uint64 // number of the first units of curr that were written already
	data    []byte // the bytes that curr refers to
	writing bool
}

func (m *merger) step(r *updateReader) {
	client := r.curr.ID.Client
	if !m.writing {
		m.take(r)
	} else {
		skipped := false
		for !r.done && r.curr.End() <= m.curr.End() && r.curr.ID.Client >= m.curr.ID.Client {
			r.next()
			skipped = true
		}
		if r.done || r.curr.ID.Client != client || (skipped && r.curr.ID.Clock > m.curr.End()) {
			return
		}
		m.continueWith(r)
	}
	for !r.done && r.curr.ID.Client == client && r.curr.ID.Clock == m.curr.End() {
		m.flush()
		m.take(r)
	}
}

func (m *merger) continueWith(r *updateReader) {
	next := r.curr
	switch {
	case next.ID.Client != m.curr.ID.Client:
		m.flush()
		m.take(r)
	case m.curr.End() < next.ID.Clock:
		m.bridge(&next)
	default:
		m.overlap(r, next)
	}
}

// bridge handles a gap between curr and next, a struct that starts later. It writes curr, and a Skip for the gap
// becomes curr. If curr already is a Skip, bridge extends it to the end of next, as Yjs does.
func (m *merger) bridge(next *Struct) {
	if m.curr.Kind() == KindSkip {
		m.curr.Length = next.End() - m.curr.ID.Clock
		return
	}
	end := m.curr.End()
	m.flush()
	m.curr, m.cut = Struct{ID: ID{next.ID.Client, end}, Length: next.ID.Clock - end, Info: KindSkip}, 0
}

// overlap handles next, a struct that starts inside curr or directly after it.
func (m *merger) overlap(r *updateReader, next Struct) {
	over := m.curr.End() - next.ID.Clock
	if m.curr.Kind() == KindSkip {
		m.curr.Length -= over
		over = 0
	}
	if kind := m.curr.Kind(); kind == next.Kind() && (kind == KindGC || kind == KindSkip) {
		m.curr.Length += next.Length - over
		return
	}
	m.flush()
	m.curr, m.cut, m.data = next, over, r.data
	r.next()
}

func (m *merger) flush() { m.out.write(&m.curr, m.data, m.cut) }

func (m *merger) take(r *updateReader) {
	m.curr, m.cut, m.data, m.writing = r.curr, 0, r.data, true
	r.next()
}

// EndsOf returns the clock after the last struct of each client in an update, and the units that the update deletes.
// The errors are those of [Merge].
func EndsOf(update []byte) (StateVector, DeleteSet, error) {
	u, err := Scan(update)
	if err != nil {
		return nil, nil, err
	}
	ends := make(StateVector)
	r := newUpdateReader(update, true)
	for r.next(); !r.done; r.next() {
		ends[r.curr.ID.Client] = max(ends[r.curr.ID.Client], r.curr.End())
	}
	return ends, u.Deletes, nil
}

// WithDeletes returns an update with its own delete set replaced by the normal delete set ds. The errors are those of
// [Merge].
func WithDeletes(update []byte, ds DeleteSet) ([]byte, error) {
	if _, err := Scan(update); err != nil {
		return nil, err
	}
	r := newUpdateReader(update, false)
	for !r.done {
		r.next()
	}
	return ds.AppendTo(slices.Clone(update[:r.Offset()])), nil
}
