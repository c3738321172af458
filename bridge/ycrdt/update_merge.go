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
func MergeUpdates(updates ...[]byte) ([]byte, error) {
	for _, update := range updates {
		if _, err := scanUpdate(update); err != nil {
			return nil, err
		}
	}
	switch len(updates) {
	case 0:
		return []byte{0, 0}, nil
	case 1:
		return slices.Clone(updates[0]), nil
	}
	return mergeScanned(updates), nil
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

// An updateReader reads all structs of a checked update one after the other,
// those of length 0 left out.
type updateReader struct {
	structReader
	data      []byte
	sections  uint64
	dropSkips bool
	curr      wireStruct
	done      bool
	clients   []ClientID // in wire order
}

func newUpdateReader(update []byte, dropSkips bool) *updateReader {
	r := &updateReader{data: update, dropSkips: dropSkips}
	r.Reader = lib0.NewReader(update)
	r.sections = r.Uint()
	return r
}

func (r *updateReader) next() {
	for {
		for r.left == 0 {
			if r.sections == 0 {
				r.done = true
				return
			}
			r.sections--
			r.section()
			r.clients = append(r.clients, r.client)
		}
		r.structReader.next(&r.curr)
		if r.curr.length > 0 && !(r.dropSkips && r.curr.kind() == kindSkip) {
			return
		}
	}
}

// updateWriter writes structs that come sorted by client.
type updateWriter struct {
	dst      []byte
	section  []byte
	client   ClientID
	clock    uint64
	count    uint64
	sections uint64
}

// write writes the struct w, which lies in data, from unit offset on.
func (e *updateWriter) write(w *wireStruct, data []byte, offset uint64) {
	if e.count > 0 && e.client != w.id.Client {
		e.flush()
	}
	if e.count == 0 {
		e.client, e.clock = w.id.Client, w.id.Clock+offset
	}
	e.count++
	e.section = w.appendTo(e.section, data, offset)
}

func (e *updateWriter) flush() {
	if e.count == 0 {
		return
	}
	e.sections++
	e.dst = lib0.AppendUint(e.dst, e.count)
	e.dst = lib0.AppendUint(e.dst, uint64(e.client))
	e.dst = lib0.AppendUint(e.dst, e.clock)
	e.dst = append(e.dst, e.section...)
	e.section, e.count = e.section[:0], 0
}

func (e *updateWriter) finish(ds deleteSet) []byte {
	e.flush()
	out := make([]byte, 0, len(e.dst)+16+8*len(ds))
	out = append(lib0.AppendUint(out, e.sections), e.dst...)
	return ds.appendTo(out)
}

// appendTo appends the wire form of w, which lies in data, from unit offset on.
func (w *wireStruct) appendTo(dst, data []byte, offset uint64) []byte {
	kind := w.kind()
	if kind == kindGC || kind == kindSkip {
		return lib0.AppendUint(append(dst, kind), w.length-offset)
	}
	info, origin := w.info, w.origin
	if offset > 0 {
		info |= infoOrigin
		origin = ID{w.id.Client, w.id.Clock + offset - 1}
	}
	dst = append(dst, info)
	if info&infoOrigin != 0 {
		dst = appendID(dst, origin)
	}
	if info&infoRight != 0 {
		dst = appendID(dst, w.right)
	}
	if info&(infoOrigin|infoRight) == 0 {
		dst = w.appendParent(dst, data)
	}
	switch kind {
	case kindDeleted:
		return lib0.AppendUint(dst, w.length-offset)
	case kindType:
		return appendType(dst, w.typeRef, w.content.of(data))
	}
	return appendContent(dst, kind, w.bytes(data), w.length, offset)
}

// bytes returns the content of w.
func (w *wireStruct) bytes(data []byte) []byte {
	if w.half {
		return append([]byte(replacement), w.content.of(data)...)
	}
	return w.content.of(data)
}

func (w *wireStruct) appendParent(dst, data []byte) []byte {
	if w.inRoot {
		dst = lib0.AppendBytes(append(dst, 1), w.root.of(data))
	} else {
		dst = appendID(append(dst, 0), w.parent)
	}
	if w.info&infoParentSub != 0 {
		dst = lib0.AppendBytes(dst, w.sub.of(data))
	}
	return dst
}

// slice returns w, which lies in data, without its first n units.
func (w *wireStruct) slice(data []byte, n uint64) wireStruct {
	right := *w
	right.id.Clock += n
	right.length -= n
	if kind := w.kind(); kind == kindGC || kind == kindSkip {
		return right
	}
	right.info |= infoOrigin
	right.origin = ID{w.id.Client, right.id.Clock - 1}
	if w.kind() != kindDeleted {
		prefix, rest := sliceContent(w.kind(), w.content.of(data), n)
		right.content.from = right.content.to - len(rest)
		right.half = prefix != ""
	}
	return right
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

// mergeScanned is MergeUpdates for two or more checked updates.
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
