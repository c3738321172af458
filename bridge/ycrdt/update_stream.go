package ycrdt

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// Reading and writing of updates without a document.

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
