package ycrdt

import "strings"

// A Text is a shared sequence of characters. Positions and lengths count
// UTF-16 units, as in Yjs and JavaScript: a character outside of the Basic
// Multilingual Plane, such as an emoji, counts two.
//
// A position between the two units of such a character is moved: an insertion
// goes before the character, a deletion takes all of it. Positions beyond the
// end stand for the end.
type Text struct {
	handle
	initial string
}

// A textView is the committed content of a Text.
type textView struct {
	text   string
	length int
}

// NewText returns a text that holds s, to be inserted into a [Map] or [Array].
// Until then it can be neither read nor changed.
func NewText(s string) *Text { return &Text{initial: s} }

func (t *Text) wireType() uint8 { return typeText }
func (t *Text) check() error    { return nil }

func (t *Text) fill(tx *Txn) error {
	t.Insert(tx, 0, t.initial)
	t.initial = ""
	return nil
}

// Insert puts s before the unit at pos. Bytes of s that are not UTF-8 become
// U+FFFD. Inside of formatted text s takes the format of what is on its left.
func (t *Text) Insert(tx *Txn, pos int, s string) {
	b := t.in(tx)
	if s == "" || b.dead {
		return
	}
	s = validText(s)
	pos = clamp(pos, b.length)
	if b.formatted {
		tx.insertFormatted(b, pos, s)
		return
	}
	left, off := tx.store.locate(b, pos)
	if left != 0 && tx.store.insidePair(&tx.store.items[left], off) {
		left, off = tx.store.locate(b, pos-1)
	}
	if left != 0 && off < int(tx.store.items[left].length) {
		tx.splitItem(left, uint64(off))
	}
	tx.insertText(b, left, s)
}

// insertText inserts s after left, or first if left is 0. Like Yjs it goes
// past deleted items, to stand directly before the next character.
func (tx *Txn) insertText(b *branch, left ref, text string) {
	s := tx.store
	right := b.start
	if left != 0 {
		right = s.items[left].right
	}
	for right != 0 && s.items[right].deleted() {
		left, right = right, s.items[right].right
	}
	if tx.extend(b, left, right, text) {
		return
	}
	r := tx.newLocal(left, right, b.index, kindString)
	it := &s.items[r]
	it.off = uint32(len(s.arena))
	s.arena = append(s.arena, text...)
	it.size = uint32(len(text))
	it.length = uint32(stringUnits(text))
	tx.integrate(r)
}

// extend appends text to the item left if a new item for it would be merged
// into left at commit anyway, and reports whether it did.
func (tx *Txn) extend(b *branch, left, right ref, text string) bool {
	if left == 0 {
		return false
	}
	s := tx.store
	it := &s.items[left]
	home := s.homeOf(it)
	c := &s.clients[home]
	if it.kind != kindString || it.deleted() || c.id != tx.doc.ClientID() || s.endOf(it) != c.next {
		return false
	}
	if right == 0 && it.rightOrigin != 0 {
		return false
	}
	if right != 0 {
		if next := &s.items[right]; next.client != it.rightOrigin || next.clock != it.rightClock {
			return false
		}
	}
	if b.item != 0 && s.items[b.item].deleted() {
		return false
	}
	n := uint32(stringUnits(text))
	tx.touch(home)
	c.next += uint64(n)
	s.appendText(it, text)
	it.length += n
	b.length += int(n)
	if b.positions != nil {
		b.positions.grow(s, left, n)
	}
	tx.markChanged(b, it.parent)
	return true
}

// appendText adds text to the content of it.
func (s *store) appendText(it *item, text string) {
	if int(it.off+it.size) != len(s.arena) {
		s.dead += int(it.size)
		it.off, _ = s.put(s.bytesOf(it))
	}
	s.arena = append(s.arena, text...)
	it.size += uint32(len(text))
}

// Delete removes n units from pos on.
func (t *Text) Delete(tx *Txn, pos, n int) {
	b := t.in(tx)
	pos = clamp(pos, b.length)
	n = clamp(n, b.length-pos)
	switch {
	case n == 0 || b.dead:
	case b.formatted:
		tx.deleteFormatted(b, pos, n)
	default:
		tx.deleteVisible(b, pos, n)
	}
}

// String returns the committed text without embedded objects. The text of an
// unchanged Text is put together once, so calling String often is cheap; it
// does not wait for a running transaction if it was read since the last one.
func (t *Text) String() string { return t.view().text }

// Len returns the committed length in UTF-16 units; embedded objects count one.
func (t *Text) Len() int { return t.view().length }

// ToJSON returns the same as [Text.String].
func (t *Text) ToJSON() any { return t.String() }

// StringIn returns the text as tx sees it.
func (t *Text) StringIn(tx *Txn) string { return tx.store.text(t.in(tx)) }

// LenIn returns the length in UTF-16 units as tx sees it.
func (t *Text) LenIn(tx *Txn) int { return t.in(tx).length }

// view returns the committed content.
func (t *Text) view() *textView {
	if b := t.branch.Load(); b != nil {
		if v := b.committed.Load(); v != nil {
			return v
		}
	}
	v := &textView{}
	t.read(func(s *store, b *branch) {
		if b == nil {
			return
		}
		t.branch.Store(b)
		v.text, v.length = s.text(b), b.length
		b.committed.Store(v)
	})
	return v
}

func (t *Text) json(s *store, _ int) any {
	if b := t.find(s); b != nil {
		return s.text(b)
	}
	return ""
}

// text puts the visible text of b together.
func (s *store) text(b *branch) string {
	if v := b.committed.Load(); v != nil && b.changed != s.epoch {
		return v.text
	}
	var text strings.Builder
	text.Grow(b.length) // exact for ASCII
	for r := b.start; r != 0; r = s.items[r].right {
		if it := &s.items[r]; it.kind == kindString && !it.deleted() {
			text.Write(s.bytesOf(it))
		}
	}
	if text.Cap() > text.Len()+text.Len()/8 {
		return strings.Clone(text.String())
	}
	return text.String()
}

// A Run is a stretch of visible text whose units have consecutive IDs: the
// first is ID, the following have the same client and ascending clocks.
type Run struct {
	ID  ID
	Len int // UTF-16 units
}

// Runs returns the identity of every visible unit of the committed text, in
// order. Together with [Text.String] it tells later which of the characters
// that a reader saw still exist. Embedded objects are runs of their own unit.
func (t *Text) Runs() []Run {
	var runs []Run
	t.read(func(s *store, b *branch) { runs = s.runs(b) })
	return runs
}

func (s *store) runs(b *branch) []Run {
	if b == nil {
		return nil
	}
	var runs []Run
	for r := b.start; r != 0; r = s.items[r].right {
		it := &s.items[r]
		n := int(visibleUnits(it))
		if n == 0 {
			continue
		}
		id := s.idOf(it)
		if k := len(runs) - 1; k >= 0 && runs[k].ID.Client == id.Client && runs[k].ID.Clock+uint64(runs[k].Len) == id.Clock {
			runs[k].Len += n
			continue
		}
		runs = append(runs, Run{id, n})
	}
	return runs
}
