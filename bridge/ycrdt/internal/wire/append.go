package wire

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

func AppendID(dst []byte, id ID) []byte {
	return lib0.AppendUint(lib0.AppendUint(dst, uint64(id.Client)), id.Clock)
}

// AppendType appends the wire form of a type. Only XML elements and hooks have a name.
func AppendType(dst []byte, typeRef uint8, name []byte) []byte {
	dst = append(dst, typeRef)
	if typeRef == TypeXMLElement || typeRef == TypeXMLHook {
		dst = lib0.AppendBytes(dst, name)
	}
	return dst
}

// AppendContent appends the wire form of content of the given length in units, without its first offset units.
func AppendContent(dst []byte, kind uint8, content []byte, length, offset uint64) []byte {
	prefix := ""
	if offset > 0 {
		prefix, content = SliceContent(kind, content, offset)
	}
	switch kind {
	case KindString, KindBinary, KindEmbed:
		dst = lib0.AppendUint(dst, uint64(len(prefix)+len(content)))
	case KindAny, KindJSON:
		dst = lib0.AppendUint(dst, length-offset)
	}
	return append(append(dst, prefix...), content...)
}

func SkipValues(kind uint8, content []byte, n uint64) int {
	r := lib0.NewReader(content)
	for ; n > 0; n-- {
		if kind == KindAny {
			r.SkipAny()
		} else {
			r.Bytes()
		}
	}
	return r.Offset()
}

// SliceContent returns the content without its first units, as prefix and rest. prefix is only set if the cut divides a
// surrogate pair of text.
func SliceContent(kind uint8, content []byte, from uint64) (prefix string, rest []byte) {
	if kind != KindString {
		return "", content[SkipValues(kind, content, from):]
	}
	at, inside := lib0.UTF16Offset(content, int(from))
	if inside {
		return lib0.Replacement, content[at+4:]
	}
	return "", content[at:]
}
