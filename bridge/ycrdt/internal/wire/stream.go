package wire

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// An updateReader reads all structs of a checked update one after the other, except those of length 0 and, if dropSkips
// is set, Skip structs.
type updateReader struct {
	StructReader
	data      []byte
	sections  uint64
	dropSkips bool
	curr      Struct
	done      bool
}

func newUpdateReader(update []byte, dropSkips bool) *updateReader {
	r := &updateReader{data: update, dropSkips: dropSkips}
	r.Reader = lib0.NewReader(update)
	r.sections = r.Uint()
	return r
}

func (r *updateReader) next() {
	for {
		for r.Left == 0 {
			if r.sections == 0 {
				r.done = true
				return
			}
			r.sections--
			r.Section()
		}
		r.StructReader.Next(&r.curr)
		if r.curr.Length > 0 && !(r.dropSkips && r.curr.Kind() == KindSkip) {
			return
		}
	}
}

// updateWriter writes structs. Callers must pass them sorted by client.
type updateWriter struct {
	dst      []byte // finished sections
	section  []byte // structs of the current section
	client   ClientID
	clock    uint64
	count    uint64
	sections uint64
}

// write writes the struct w, whose bytes are in data, without its first offset units.
func (e *updateWriter) write(w *Struct, data []byte, offset uint64) {
	if e.count > 0 && e.client != w.ID.Client {
		e.flush()
	}
	if e.count == 0 {
		e.client, e.clock = w.ID.Client, w.ID.Clock+offset
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

func (e *updateWriter) finish(ds DeleteSet) []byte {
	e.flush()
	out := make([]byte, 0, len(e.dst)+16+8*len(ds))
	out = append(lib0.AppendUint(out, e.sections), e.dst...)
	return ds.AppendTo(out)
}

// appendTo appends the wire form of w, whose bytes are in data, without its first offset units.
func (w *Struct) appendTo(dst, data []byte, offset uint64) []byte {
	kind := w.Kind()
	if kind == KindGC || kind == KindSkip {
		return lib0.AppendUint(append(dst, kind), w.Length-offset)
	}
	info, origin := w.Info, w.Origin
	if offset > 0 {
		info |= InfoOrigin
		origin = ID{w.ID.Client, w.ID.Clock + offset - 1}
	}
	dst = append(dst, info)
	if info&InfoOrigin != 0 {
		dst = AppendID(dst, origin)
	}
	if info&InfoRight != 0 {
		dst = AppendID(dst, w.Right)
	}
	if info&(InfoOrigin|InfoRight) == 0 {
		dst = w.appendParent(dst, data)
	}
	switch kind {
	case KindDeleted:
		return lib0.AppendUint(dst, w.Length-offset)
	case KindType:
		return AppendType(dst, w.TypeRef, w.Content.Of(data))
	}
	return AppendContent(dst, kind, w.Content.Of(data), w.Length, offset)
}

func (w *Struct) appendParent(dst, data []byte) []byte {
	if w.InRoot {
		dst = lib0.AppendBytes(append(dst, 1), w.Root.Of(data))
	} else {
		dst = AppendID(append(dst, 0), w.Parent)
	}
	if w.Info&InfoParentSub != 0 {
		dst = lib0.AppendBytes(dst, w.Sub.Of(data))
	}
	return dst
}
