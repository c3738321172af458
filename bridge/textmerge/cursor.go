package textmerge

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor converts byte offsets of a text to UTF-16 positions and back. A conversion takes time in proportion to the
// distance from the last one.
type Cursor struct {
	Text string
	off  int // bytes
	pos  int // UTF-16 units at off
}

func NewCursor(text string) Cursor { return Cursor{Text: text} }

// PosAt returns the UTF-16 position of byte offset off.
func (c *Cursor) PosAt(off int) int {
	off = min(off, len(c.Text))
	if off < c.off/2 {
		*c = NewCursor(c.Text)
	}
	for c.off > off {
		c.stepBack()
	}
	for c.off < off {
		if !c.skipASCII(off - c.off) {
			c.step()
		}
	}
	return c.pos
}

// OffAt returns the byte offset of UTF-16 position pos. Positions must not decrease between calls. For a position
// inside a surrogate pair it returns the offset after the pair.
func (c *Cursor) OffAt(pos int) int {
	for c.pos < pos && c.off < len(c.Text) {
		if !c.skipASCII(pos - c.pos) {
			c.step()
		}
	}
	return c.off
}

// skipASCII advances by at most n of the ASCII characters at the start of the next eight bytes. It does nothing near the
// end of the text. Most text is ASCII, and each write scans it many times.
func (c *Cursor) skipASCII(n int) bool {
	if c.off+8 > len(c.Text) {
		return false
	}
	s := c.Text[c.off : c.off+8]
	eight := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56 // the compiler makes this one load
	skipped := min(n, bits.TrailingZeros64(eight&0x8080808080808080)/8) // eight of them if there is no other character
	c.off += skipped
	c.pos += skipped
	return skipped > 0
}

// WholeAt returns the byte offset of UTF-16 position pos, and pos. If pos is inside a surrogate pair, it returns the
// offset and the position of the start of the pair.
func (c *Cursor) WholeAt(pos int) (off, at int) {
	if off = c.OffAt(pos); c.pos > pos {
		return off - utf8.UTFMax, pos - 1
	}
	return off, pos
}

func (c *Cursor) step() {
	if c.Text[c.off] < utf8.RuneSelf {
		c.off++
		c.pos++
		return
	}
	r, size := utf8.DecodeRuneInString(c.Text[c.off:])
	c.off += size
	c.pos++
	if r > 0xFFFF {
		c.pos++
	}
}

func (c *Cursor) stepBack() {
	if c.Text[c.off-1] < utf8.RuneSelf {
		c.off--
		c.pos--
		return
	}
	r, size := utf8.DecodeLastRuneInString(c.Text[:c.off])
	c.off -= size
	c.pos -= utf16.RuneLen(r)
}

func UTF16Len(text string) int {
	c := NewCursor(text)
	return c.PosAt(len(text))
}
