package ycrdt

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
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
		out = wire.AppendID([]byte{0}, *p.Item)
	case p.Root != nil:
		out = lib0.AppendString([]byte{1}, *p.Root)
	case p.Type != nil:
		out = wire.AppendID([]byte{2}, *p.Type)
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
		return &ID{Client: client, Clock: r.Uint()}
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
	t.read(func(s *ytypes.Store, b *ytypes.Branch) { p = relativePosition(s, &t.handle, b, pos, assoc) })
	return p
}

// RelativePosition returns the place before the element at pos of the committed
// array (assoc 0), or behind the element before pos (assoc -1).
func (a *Array) RelativePosition(pos, assoc int) (p RelativePosition) {
	a.read(func(s *ytypes.Store, b *ytypes.Branch) { p = relativePosition(s, &a.handle, b, pos, assoc) })
	return p
}

func relativePosition(s *ytypes.Store, h *handle, b *ytypes.Branch, pos, assoc int) RelativePosition {
	p := RelativePosition{Assoc: assoc}
	if b == nil || b.Item == 0 {
		name := h.name
		if b != nil {
			name = b.Root
		}
		p.Root = &name
	} else {
		id := s.IDOf(&s.Items[b.Item])
		p.Type = &id
	}
	if b == nil || (assoc < 0 && pos <= 0) {
		return p
	}
	if assoc < 0 {
		pos--
	}
	p.Item = unitAt(s, b, max(pos, 0), assoc)
	return p
}

// unitAt returns the ID of the visible unit at pos. Beyond the end it returns
// nil, or for a negative assoc the last unit of the list, deleted or not.
func unitAt(s *ytypes.Store, b *ytypes.Branch, pos, assoc int) *ID {
	last := structs.Ref(0)
	if pos < b.Length {
		r, off := s.Locate(b, pos+1)
		id := s.IDOf(&s.Items[r])
		id.Clock += uint64(off) - 1
		return &id
	}
	if assoc >= 0 || b.Start == 0 {
		return nil
	}
	if b.Length > 0 {
		last, _ = s.Locate(b, b.Length)
	}
	for r := s.After(b, last); r != 0; r = s.Items[r].Right {
		last = r
	}
	it := &s.Items[last]
	return &ID{Client: s.IDOf(it).Client, Clock: s.EndOf(it) - 1}
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
	b, index := resolve(d.store, p)
	if b != nil && b.Item != 0 {
		pos = AbsolutePosition{d.wrap(b), index}
	}
	d.mu.Unlock()
	switch {
	case b == nil && (p.Item != nil || p.Root == nil):
		return AbsolutePosition{}, false
	case b == nil:
		return AbsolutePosition{d.rootHandle(*p.Root), 0}, true
	case b.Item == 0:
		return AbsolutePosition{d.rootHandle(b.Root), index}, true
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
	if p.Item == nil && p.Root != nil && *p.Root != b.Root {
		return 0, false
	}
	at, index := resolve(tx.edit.Store, p)
	return index, at == b
}

// resolve returns the branch and the index of p, nil if there is none.
func resolve(s *ytypes.Store, p RelativePosition) (*ytypes.Branch, int) {
	if p.Item != nil {
		return resolveUnit(s, *p.Item, p.Assoc)
	}
	var b *ytypes.Branch
	switch {
	case p.Root != nil:
		b = s.Roots[*p.Root]
	case p.Type != nil && p.Type.Clock < s.State(p.Type.Client):
		it := &s.Items[s.FindItem(s.LookupClient(p.Type.Client), p.Type.Clock)]
		if it.Kind == wire.KindType {
			b = s.Branches[it.Off]
		}
	}
	if b == nil || p.Assoc < 0 {
		return b, 0
	}
	return b, b.Length
}

func resolveUnit(s *ytypes.Store, id ID, assoc int) (*ytypes.Branch, int) {
	if id.Clock >= s.State(id.Client) {
		return nil, 0
	}
	r := s.FindItem(s.LookupClient(id.Client), id.Clock)
	it := &s.Items[r]
	if it.Kind == wire.KindGC {
		return nil, 0
	}
	b := s.BranchOf(it)
	if b.Item != 0 && s.Items[b.Item].Deleted() {
		return b, 0
	}
	index := 0
	if it.VisibleUnits() > 0 {
		index = int(id.Clock - s.ClockOf(it))
		if assoc < 0 {
			index++
		}
	}
	return b, index + s.PositionOf(b, r)
}
