package bridge

import "unicode/utf8"

// Texts are UTF-8 here and positions in them are bytes ("off"). Yjs counts
// UTF-16 units ("pos"). utf16Cursor is the one place that converts.

// utf16Cursor walks a text once and converts ascending byte offsets to UTF-16
// positions and back.
type utf16Cursor struct {
	text string
	off  int // bytes
	pos  int // UTF-16 units at off
}

// newCursor is a cursor at the start of text.
func newCursor(text string) utf16Cursor { return utf16Cursor{text: text} }

// posAt returns the UTF-16 position of byte offset off, which must not be
// before an offset asked for earlier.
func (c *utf16Cursor) posAt(off int) int {
	for c.off < off && c.off < len(c.text) {
		c.step()
	}
	return c.pos
}

// offAt returns the byte offset of UTF-16 position pos, which must not be
// before a position asked for earlier. Inside a surrogate pair it is the offset
// behind the pair.
func (c *utf16Cursor) offAt(pos int) int {
	for c.pos < pos && c.off < len(c.text) {
		c.step()
	}
	return c.off
}

// wholeAt is offAt, but inside a surrogate pair it is before the pair. It returns the
// position of that, too.
func (c *utf16Cursor) wholeAt(pos int) (off, at int) {
	if off = c.offAt(pos); c.pos > pos {
		return off - utf8.UTFMax, pos - 1
	}
	return off, pos
}

func (c *utf16Cursor) step() {
	if c.text[c.off] < utf8.RuneSelf {
		c.off++
		c.pos++
		return
	}
	r, size := utf8.DecodeRuneInString(c.text[c.off:])
	c.off += size
	c.pos++
	if r > 0xFFFF {
		c.pos++
	}
}

// utf16Len is the length of text in UTF-16 units.
func utf16Len(text string) int {
	c := newCursor(text)
	return c.posAt(len(text))
}
