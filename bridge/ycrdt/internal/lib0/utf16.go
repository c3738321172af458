package lib0

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Text is stored as UTF-8 but counted in UTF-16 units, as in Yjs and JavaScript. If a text has as many bytes as units,
// it is ASCII, because every other character has more bytes than units.

// Replacement is U+FFFD. If an edit cuts a surrogate pair, Yjs replaces each half by this character.
const Replacement = "\uFFFD"

const highBits = 0x8080808080808080

// units8 returns the number of UTF-16 units that start in the eight UTF-8 bytes of w: one for each byte that begins a
// character, and one more if the character has four bytes.
func units8(w uint64) int {
	continuation := w & (^w << 1) & highBits // 10xxxxxx
	four := w & (w << 1) & (w << 2) & (w << 3) & highBits
	return 8 - bits.OnesCount64(continuation) + bits.OnesCount64(four)
}

func UTF16Len(b []byte) int {
	if ASCII(b) {
		return len(b)
	}
	n := 0
	for len(b) >= 8 {
		n += units8(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, c := range b {
		if c&0xc0 != 0x80 {
			n++
		}
		if c >= 0xf0 {
			n++
		}
	}
	return n
}

// UTF16Offset converts a position in UTF-16 units to a byte offset in valid UTF-8. For a position inside a surrogate
// pair, inside is true and the offset is the start of the pair's character.
func UTF16Offset(b []byte, units int) (off int, inside bool) {
	for units >= 9 && len(b)-off >= 8 { // at most nine units begin in eight bytes
		units -= units8(binary.LittleEndian.Uint64(b[off:]))
		off += 8
	}
	for off > 0 && off < len(b) && b[off]&0xc0 == 0x80 { // skip the rest of the character
		off++
	}
	for units > 0 {
		c := b[off]
		switch {
		case c < 0x80:
			off++
		case c < 0xe0:
			off += 2
		case c < 0xf0:
			off += 3
		case units == 1:
			return off, true
		default:
			off += 4
			units--
		}
		units--
	}
	return off, false
}

func ValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
