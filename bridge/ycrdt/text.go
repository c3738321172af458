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
	left, right := tx.gap(b, pos)
	for right != 0 && tx.store.items[right].deleted() {
		left, right = right, tx.store.items[right].right
	}
	tx.insertText(b, left, right, s)
}

// InsertAfter puts s right behind the unit before pos. Where deleted units follow
// that one, s stands before them; Insert goes past them, as Yjs does.
func (t *Text) InsertAfter(tx *Txn, pos int, s string) {
	b := t.in(tx)
	if s == "" || b.dead {
		return
	}
	left, right := tx.gap(b, clamp(pos, b.length))
	tx.insertText(b, left, right, validText(s))
}

// A Side is one of the two sides of a unit.
type Side int

const (
	Before Side = iota
	Behind
)

// InsertAt puts s on the given side of the unit id, which may be deleted: nothing
// stands between the two then. It reports whether it could: not if the text has no
// such unit, or remembers no more where it was.
func (t *Text) InsertAt(tx *Txn, id ID, side Side, s string) bool {
	b := t.in(tx)
	store := tx.store
	r, ok := tx.unitOf(b, id)
	if !ok || b.dead {
		return false
	}
	if s == "" {
		return true
	}
	home, clock := store.homeOf(&store.items[r]), id.Clock
	left, right := ref(0), ref(0)
	if side == Behind {
		left = tx.itemEnding(home, clock)
		right = store.items[left].right
	} else {
		right = tx.itemStarting(home, clock)
		left = store.items[right].left
	}
	tx.insertText(b, left, right, validText(s))
	return true
}

// unitOf finds the item of b that holds the unit id.
func (tx *Txn) unitOf(b *branch, id ID) (r ref, ok bool) {
	s := tx.store
	home := s.lookupClient(id.Client)
	if home == 0 || id.Clock >= s.clients[home].next {
		return 0, false
	}
	r = s.findItem(home, id.Clock)
	it := &s.items[r]
	return r, it.kind != kindGC && it.parent == b.index
}

// gap returns the items on either side of position pos, which it parts if they are one.
func (tx *Txn) gap(b *branch, pos int) (left, right ref) {
	left, off := tx.store.locate(b, pos)
	if left != 0 && tx.store.insidePair(&tx.store.items[left], off) {
		left, off = tx.store.locate(b, pos-1)
	}
	if left == 0 {
		return 0, b.start
	}
	if off < int(tx.store.items[left].length) {
		tx.splitItem(left, uint64(off))
	}
	return left, tx.store.items[left].right
}

// insertText inserts s between two neighbours, of which 0 is none.
func (tx *Txn) insertText(b *branch, left, right ref, text string) {
	s := tx.store
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

// Objects returns the places, in units, of what is in the committed text and is no
// text: embedded objects, types and values, each of one unit.
func (t *Text) Objects() (places []int) {
	t.read(func(s *store, b *branch) {
		if b == nil {
			return
		}
		pos := 0
		for r := b.start; r != 0; r = s.items[r].right {
			it := &s.items[r]
			n := int(visibleUnits(it))
			if it.kind != kindString {
				for i := range n {
					places = append(places, pos+i)
				}
			}
			pos += n
		}
	})
	return places
}

// A Piece is a stretch of units of a text, all visible or all deleted, with
// consecutive IDs.
type Piece struct {
	ID      ID
	Len     int // UTF-16 units
	Deleted bool
}

// Pieces returns the identity of every unit of the committed text that has a place in
// it, deleted ones included, in order. What was deleted keeps its place for ever.
func (t *Text) Pieces() (pieces []Piece) {
	t.read(func(s *store, b *branch) {
		if b == nil {
			return
		}
		for r := b.start; r != 0; r = s.items[r].right {
			it := &s.items[r]
			deleted := it.deleted()
			n := int(visibleUnits(it))
			if deleted {
				n = int(it.units())
			}
			id := s.idOf(it)
			last := len(pieces) - 1
			switch {
			case n == 0:
			case last >= 0 && pieces[last].Deleted == deleted && pieces[last].ID.Client == id.Client &&
				pieces[last].ID.Clock+uint64(pieces[last].Len) == id.Clock:
				pieces[last].Len += n
			default:
				pieces = append(pieces, Piece{id, n, deleted})
			}
		}
	})
	return pieces
}
