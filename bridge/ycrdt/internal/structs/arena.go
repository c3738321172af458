package structs

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// The content of a document is in one append-only byte arena. Text is UTF-8. All other content stays in its wire form,
// so that encoding reproduces the same bytes and decoding costs nothing until the content is read:
//
//	String   the text
//	Any      as many any values as the item's length
//	JSON     as many length-prefixed JSON texts as the item's length
//	Binary   the bytes
//	Embed    the JSON text
//	Format   length-prefixed key, length-prefixed JSON text
//	Doc      length-prefixed guid, any value with the options
//
// Deleted content and GC structs have no content here. A Type has a branch instead.

// MaxArena is the largest offset that an item's 32 bits can hold.
const MaxArena = 1<<32 - 1

type Arena struct {
	bytes []byte
	dead  int // number of unused bytes
}

func (a *Arena) Put(b []byte) (off, size uint32) {
	off = uint32(len(a.bytes))
	a.bytes = append(a.bytes, b...)
	return off, uint32(len(b))
}

func (a *Arena) PutString(s string) (off, size uint32) {
	off = uint32(len(a.bytes))
	a.bytes = append(a.bytes, s...)
	return off, uint32(len(s))
}

// Len returns the size of the arena in bytes, including unused bytes.
func (a *Arena) Len() int { return len(a.bytes) }

func (a *Arena) Cap() int { return cap(a.bytes) }

// Live returns the number of bytes that belong to items.
func (a *Arena) Live() int { return len(a.bytes) - a.dead }

func (a *Arena) Of(it *Item) []byte {
	return a.bytes[it.Off : it.Off+it.Size : it.Off+it.Size]
}

func (it *Item) ascii() bool { return it.Size == it.Length }

// mergeableKind reports whether neighbours of this kind may become one item.
func mergeableKind(kind uint8) bool {
	return kind == wire.KindString || kind == wire.KindDeleted || kind == wire.KindAny || kind == wire.KindJSON
}

// Split moves the content of left after its first diff units to right. Apart from its content, right must be a copy of
// left.
func (a *Arena) Split(left, right *Item, diff uint64) {
	switch left.Kind {
	case wire.KindGC, wire.KindDeleted:
		left.Length, right.Length = uint32(diff), left.Length-uint32(diff)
	case wire.KindString:
		a.splitText(left, right, uint32(diff))
	default: // Any and JSON; the other kinds have length 1
		at := wire.SkipValues(left.Kind, a.Of(left), diff)
		a.cut(left, right, uint32(at), uint32(diff))
	}
}

func (a *Arena) cut(left, right *Item, at, diff uint32) {
	right.Off, right.Size, right.Length = left.Off+at, left.Size-at, left.Length-diff
	left.Size, left.Length = at, diff
}

func (a *Arena) splitText(left, right *Item, diff uint32) {
	if left.ascii() {
		a.cut(left, right, diff, diff)
		return
	}
	text := a.Of(left)
	at, inside := lib0.UTF16Offset(text, int(diff))
	if !inside {
		a.cut(left, right, uint32(at), diff)
		return
	}
	// As in Yjs, both halves of a cut surrogate pair become U+FFFD. The four bytes of the pair's character have no
	// space for two such characters, so both parts move.
	head, tail := text[:at], text[at+4:]
	a.dead += len(text)
	right.Length = left.Length - diff
	left.Length = diff
	left.Off = uint32(len(a.bytes))
	a.bytes = append(append(a.bytes, head...), lib0.Replacement...)
	left.Size = uint32(len(a.bytes)) - left.Off
	right.Off = uint32(len(a.bytes))
	a.bytes = append(append(a.bytes, lib0.Replacement...), tail...)
	right.Size = uint32(len(a.bytes)) - right.Off
}

func (a *Arena) Merge(left, right *Item) {
	switch {
	case left.Kind <= wire.KindDeleted:
	case left.Off+left.Size == right.Off:
	case int(left.Off+left.Size) == len(a.bytes):
		a.dead += int(right.Size)
		a.bytes = append(a.bytes, a.Of(right)...)
	default:
		a.dead += int(left.Size + right.Size)
		off, _ := a.Put(a.Of(left))
		a.Put(a.Of(right))
		left.Off = off
	}
	left.Size += right.Size
	left.Length += right.Length
}

// Drop turns an item into a Deleted item of the same length.
func (a *Arena) Drop(it *Item) {
	if it.Kind != wire.KindType && it.Kind > wire.KindDeleted {
		a.dead += int(it.Size)
	}
	it.Kind, it.Off, it.Size = wire.KindDeleted, 0, 0
}

func (a *Arena) AppendText(it *Item, text string) {
	if int(it.Off+it.Size) != len(a.bytes) {
		a.dead += int(it.Size)
		it.Off, _ = a.Put(a.Of(it))
	}
	a.bytes = append(a.bytes, text...)
	it.Size += uint32(len(text))
}

// InsidePair reports whether an offset, in units of the item, is between the two halves of a surrogate pair.
func (a *Arena) InsidePair(it *Item, off int) bool {
	if it.Kind != wire.KindString || it.ascii() || off == int(it.Length) {
		return false
	}
	_, inside := lib0.UTF16Offset(a.Of(it), off)
	return inside
}
