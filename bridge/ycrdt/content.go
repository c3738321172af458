package ycrdt

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// Content lives in one append-only byte arena per document. Text is UTF-8;
// everything else stays in its wire form, so that it is re-encoded byte for
// byte and costs nothing until somebody reads it:
//
//	String   the text
//	Any      the any values one after the other, length of them
//	JSON     the length-prefixed JSON texts one after the other
//	Binary   the bytes
//	Embed    the JSON text
//	Format   length-prefixed key, length-prefixed JSON text
//	Doc      length-prefixed guid, any value with the options
//
// Deleted content and GC structs have none; Type has a branch instead.

// maxArena is how much an item's 32-bit offset can address.
const maxArena = 1<<32 - 1

// put copies b to the end of the arena and returns where.
func (s *store) put(b []byte) (off, size uint32) {
	off = uint32(len(s.arena))
	s.arena = append(s.arena, b...)
	return off, uint32(len(b))
}

// bytesOf returns the content of it, valid until the arena changes.
func (s *store) bytesOf(it *item) []byte {
	return s.arena[it.off : it.off+it.size : it.off+it.size]
}

func (it *item) ascii() bool { return it.size == it.length }

// mergeableKind reports whether neighbours of this kind may become one item.
func mergeableKind(kind uint8) bool {
	return kind == kindString || kind == kindDeleted || kind == kindAny || kind == kindJSON
}

// splitContent moves the content from unit diff on from left to right, which
// is a copy of left in all else.
func (s *store) splitContent(left, right *item, diff uint64) {
	switch left.kind {
	case kindGC, kindDeleted:
		n := left.units()
		left.setUnits(diff)
		right.setUnits(n - diff)
	case kindString:
		s.splitText(left, right, uint32(diff))
	default: // Any, JSON; the other kinds have length 1
		at := skipValues(left.kind, s.bytesOf(left), diff)
		s.cut(left, right, uint32(at), uint32(diff))
	}
}

// cut divides the bytes of left at the byte offset at, which is unit diff.
func (s *store) cut(left, right *item, at, diff uint32) {
	right.off, right.size, right.length = left.off+at, left.size-at, left.length-diff
	left.size, left.length = at, diff
}

func (s *store) splitText(left, right *item, diff uint32) {
	if left.ascii() {
		s.cut(left, right, diff, diff)
		return
	}
	text := s.bytesOf(left)
	at, inside := utf16Offset(text, int(diff))
	if !inside {
		s.cut(left, right, uint32(at), diff)
		return
	}
	// As Yjs does, both halves of a cut surrogate pair become U+FFFD. The four
	// bytes of the pair's character cannot hold that, so both parts move.
	head, tail := text[:at], text[at+4:]
	s.dead += len(text)
	right.length = left.length - diff
	left.length = diff
	left.off = uint32(len(s.arena))
	s.arena = append(append(s.arena, head...), replacement...)
	left.size = uint32(len(s.arena)) - left.off
	right.off = uint32(len(s.arena))
	s.arena = append(append(s.arena, replacement...), tail...)
	right.size = uint32(len(s.arena)) - right.off
}

// skipValues returns the byte offset of value n in Any or JSON content.
func skipValues(kind uint8, content []byte, n uint64) int {
	r := lib0.NewReader(content)
	for ; n > 0; n-- {
		if kind == kindAny {
			r.SkipAny(false)
		} else {
			r.Bytes()
		}
	}
	return r.Offset()
}

// sliceContent returns the content from unit from on as prefix and rest. Only
// text that is cut inside a surrogate pair has a prefix.
func sliceContent(kind uint8, content []byte, from uint64) (prefix string, rest []byte) {
	if kind != kindString {
		return "", content[skipValues(kind, content, from):]
	}
	at, inside := utf16Offset(content, int(from))
	if inside {
		return replacement, content[at+4:]
	}
	return "", content[at:]
}

// mergeContent appends the content of right to left, both of the same
// mergeable kind.
func (s *store) mergeContent(left, right *item) {
	if left.kind <= kindDeleted {
		left.setUnits(left.units() + right.units())
		return
	}
	switch {
	case left.off+left.size == right.off:
	case int(left.off+left.size) == len(s.arena):
		s.dead += int(right.size)
		s.arena = append(s.arena, s.bytesOf(right)...)
	default:
		s.dead += int(left.size + right.size)
		off, _ := s.put(s.bytesOf(left))
		s.put(s.bytesOf(right))
		left.off = off
	}
	left.size += right.size
	left.length += right.length
}

// dropContent makes it a Deleted item of the same length.
func (s *store) dropContent(it *item) {
	if it.kind != kindType && it.kind > kindDeleted {
		s.dead += int(it.size)
	}
	n := it.units()
	it.kind, it.off = kindDeleted, 0
	it.setUnits(n)
}
