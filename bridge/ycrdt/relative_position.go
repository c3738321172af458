package ycrdt

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// A RelativePosition is a place in a shared type that stays with its
// surroundings when others insert and delete: it names a unit by its ID instead
// of by a number. Make one with [Text.RelativePosition], find its index with
// [Doc.AbsolutePosition]. The zero value is not a position.
type RelativePosition struct {
	// Item is the unit that the position stands at; nil stands for the end of
	// the type, or for its start if Assoc is negative.
	Item *ID
	// Root is the name of the type if that is a root, and Type its item's ID
	// if it is nested. Both are empty in a decoded position that has an Item.
	Root *string
	Type *ID
	// Assoc says which neighbour the position sticks to: the unit on its right
	// if it is 0 or more, the one on its left if it is negative.
	Assoc int
}

// Encode returns the position in the form of Yjs's encodeRelativePosition.
func (p RelativePosition) Encode() []byte {
	var out []byte
	switch {
	case p.Item != nil:
		out = appendID([]byte{0}, *p.Item)
	case p.Root != nil:
		out = lib0.AppendString([]byte{1}, *p.Root)
	case p.Type != nil:
		out = appendID([]byte{2}, *p.Type)
	}
	return lib0.AppendInt(out, int64(p.Assoc))
}

// DecodeRelativePosition reads what [RelativePosition.Encode] or Yjs wrote. The
// error wraps [ErrMalformed].
func DecodeRelativePosition(data []byte) (RelativePosition, error) {
	r := lib0.NewReader(data)
	var p RelativePosition
	readID := func() *ID {
		client := ClientID(r.Uint())
		return &ID{client, r.Uint()}
	}
	switch r.Uint() {
	case 0:
		p.Item = readID()
	case 1:
		name := string(r.Text())
		p.Root = &name
	case 2:
		p.Type = readID()
	default:
		r.Fail(lib0.ErrTag)
	}
	if r.Len() > 0 { // positions of old versions of Yjs end here
		assoc, _ := r.Int()
		p.Assoc = int(assoc)
	}
	if err := r.Err(); err != nil {
		return RelativePosition{}, fmt.Errorf("relative position: %w: %w", ErrMalformed, err)
	}
	return p, nil
}

// RelativePosition returns the place before the unit at pos of the committed
// text (assoc 0), or behind the unit before pos (assoc -1).
func (t *Text) RelativePosition(pos, assoc int) (p RelativePosition) {
	t.read(func(s *store, b *branch) { p = s.relativePosition(&t.handle, b, pos, assoc) })
	return p
}

// RelativePosition returns the place before the element at pos of the committed
// array (assoc 0), or behind the element before pos (assoc -1).
func (a *Array) RelativePosition(pos, assoc int) (p RelativePosition) {
	a.read(func(s *store, b *branch) { p = s.relativePosition(&a.handle, b, pos, assoc) })
	return p
}

func (s *store) relativePosition(h *handle, b *branch, pos, assoc int) RelativePosition {
	p := RelativePosition{Assoc: assoc}
	if b == nil || b.item == 0 {
		name := h.name
		if b != nil {
			name = b.root
		}
		p.Root = &name
	} else {
		id := s.idOf(&s.items[b.item])
		p.Type = &id
	}
	if b == nil || (assoc < 0 && pos <= 0) {
		return p
	}
	if assoc < 0 {
		pos--
	}
	p.Item = s.unitAt(b, max(pos, 0), assoc)
	return p
}

// unitAt returns the ID of the visible unit at pos. Beyond the end it returns
// nil, or for a negative assoc the last unit of the list, deleted or not.
func (s *store) unitAt(b *branch, pos, assoc int) *ID {
	last := ref(0)
	if pos < b.length {
		r, off := s.locate(b, pos+1)
		id := s.idOf(&s.items[r])
		id.Clock += uint64(off) - 1
		return &id
	}
	if assoc >= 0 || b.start == 0 {
		return nil
	}
	if b.length > 0 {
		last, _ = s.locate(b, b.length)
	}
	for r := s.after(b, last); r != 0; r = s.items[r].right {
		last = r
	}
	it := &s.items[last]
	return &ID{s.idOf(it).Client, s.endOf(it) - 1}
}

// An AbsolutePosition is a place in a shared type by index, in UTF-16 units or
// elements.
type AbsolutePosition struct {
	Type  any // *Text, *Map, *Array; nil for a type without API
	Index int
}

// AbsolutePosition returns where in the committed document p is now. ok is
// false if the document has not yet seen the unit that p names, or has dropped
// it together with the type it was in.
func (d *Doc) AbsolutePosition(p RelativePosition) (pos AbsolutePosition, ok bool) {
	d.mu.Lock()
	b, index := d.store.resolve(p)
	if b != nil && b.item != 0 {
		pos = AbsolutePosition{d.store.wrap(d, b), index}
	}
	d.mu.Unlock()
	switch {
	case b == nil && (p.Item != nil || p.Root == nil):
		return AbsolutePosition{}, false
	case b == nil:
		return AbsolutePosition{d.rootHandle(*p.Root), 0}, true
	case b.item == 0:
		return AbsolutePosition{d.rootHandle(b.root), index}, true
	}
	return pos, true
}

// rootHandle returns the handle by which the root was last asked for.
func (d *Doc) rootHandle(name string) any {
	d.rootsMu.Lock()
	defer d.rootsMu.Unlock()
	if r := d.roots[name]; r != nil {
		return r.last
	}
	return nil
}

// IndexIn returns where in t, as tx sees it, p is now, in UTF-16 units: where
// tx would have to insert what belongs there. ok is false as for
// [Doc.AbsolutePosition], or if p lies in another type.
func (t *Text) IndexIn(tx *Txn, p RelativePosition) (index int, ok bool) {
	b := t.in(tx)
	if p.Item == nil && p.Root != nil && *p.Root != b.root {
		return 0, false
	}
	at, index := tx.store.resolve(p)
	return index, at == b
}

// resolve returns the branch and the index of p, nil if there is none.
func (s *store) resolve(p RelativePosition) (*branch, int) {
	if p.Item != nil {
		return s.resolveUnit(*p.Item, p.Assoc)
	}
	var b *branch
	switch {
	case p.Root != nil:
		b = s.roots[*p.Root]
	case p.Type != nil && p.Type.Clock < s.state(p.Type.Client):
		it := &s.items[s.findItem(s.lookupClient(p.Type.Client), p.Type.Clock)]
		if it.kind == kindType {
			b = s.branches[it.off]
		}
	}
	if b == nil || p.Assoc < 0 {
		return b, 0
	}
	return b, b.length
}

func (s *store) resolveUnit(id ID, assoc int) (*branch, int) {
	if id.Clock >= s.state(id.Client) {
		return nil, 0
	}
	r := s.findItem(s.lookupClient(id.Client), id.Clock)
	it := &s.items[r]
	if it.kind == kindGC {
		return nil, 0
	}
	b := s.branchOf(it)
	if b.item != 0 && s.items[b.item].deleted() {
		return b, 0
	}
	index := 0
	if visibleUnits(it) > 0 {
		index = int(id.Clock - s.clockOf(it))
		if assoc < 0 {
			index++
		}
	}
	return b, index + s.positionOf(b, r)
}

// positionOf returns how many visible units of its list come before r.
func (s *store) positionOf(b *branch, r ref) int {
	it := &s.items[r]
	if it.parent > 0 && b.positions == nil && s.farFromStart(r) {
		b.positions = newPositionIndex(s, b)
	}
	if it.parent > 0 && b.positions != nil {
		return b.positions.position(s, r)
	}
	n := 0
	for l := it.left; l != 0; l = s.items[l].left {
		n += int(visibleUnits(&s.items[l]))
	}
	return n
}

func (s *store) farFromStart(r ref) bool {
	for range scanLimit {
		if r = s.items[r].left; r == 0 {
			return false
		}
	}
	return true
}
