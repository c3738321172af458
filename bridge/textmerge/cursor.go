package textmerge

import "unicode/utf8"

// Cursor walks a text once and converts ascending byte offsets to UTF-16
// positions and back.
type Cursor struct {
	Text string
	off  int // bytes
	pos  int // UTF-16 units at off
}

// NewCursor is a cursor at the start of text.
func NewCursor(text string) Cursor { return Cursor{Text: text} }

// PosAt returns the UTF-16 position of byte offset off, which must not be
// before an offset asked for earlier.
func (c *Cursor) PosAt(off int) int {
	for c.off < off && c.off < len(c.Text) {
		c.step()
	}
	return c.pos
}

// OffAt returns the byte offset of UTF-16 position pos, which must not be
// before a position asked for earlier. Inside a surrogate pair it is the offset
// behind the pair.
func (c *Cursor) OffAt(pos int) int {
	for c.pos < pos && c.off < len(c.Text) {
		c.step()
	}
	return c.off
}

// WholeAt is offAt, but inside a surrogate pair it is before the pair. It returns the
// position of that, too.
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

// UTF16Len is the length of text in UTF-16 units.
func UTF16Len(text string) int {
	c := NewCursor(text)
	return c.PosAt(len(text))
}
