package ycrdt

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// A Text is a shared sequence of characters. Positions and lengths count UTF-16 units, as in Yjs and JavaScript: a
// character outside the Basic Multilingual Plane, such as an emoji, counts two.
//
// If a position is between the two units of such a character, an insertion goes before the character, and a deletion
// removes all of it. A position beyond the end means the end.
type Text struct {
	handle
	initial string
}

// NewText returns a text with the content s. It cannot be read or changed until it is inserted into a [Map] or [Array].
func NewText(s string) *Text { return &Text{initial: s} }

func (t *Text) wireType() uint8 { return wire.TypeText }
func (t *Text) check() error    { return nil }

func (t *Text) fill(tx *Txn) error {
	t.Insert(tx, 0, t.initial)
	t.initial = ""
	return nil
}

// Insert puts s before the unit at pos. It replaces bytes of s that are not UTF-8 with U+FFFD. In formatted text, s
// gets the format of the text to its left. Unlike Yjs, Insert and Delete leave formats that have no effect any more.
func (t *Text) Insert(tx *Txn, pos int, s string) {
	b := t.in(tx)
	if s == "" || b.Dead {
		return
	}
	s = lib0.ValidUTF8(s)
	left, right := edit.Gap(&tx.edit, b, clamp(pos, b.Length))
	for right != 0 && tx.edit.Store.Items[right].Deleted() {
		left, right = right, tx.edit.Store.Items[right].Right
	}
	edit.InsertText(&tx.edit, b, left, right, s)
}

// InsertAfter puts s directly after the unit before pos, before any deleted units there. Insert puts s after those
// units, as Yjs does.
func (t *Text) InsertAfter(tx *Txn, pos int, s string) {
	b := t.in(tx)
	if s == "" || b.Dead {
		return
	}
	left, right := edit.Gap(&tx.edit, b, clamp(pos, b.Length))
	edit.InsertText(&tx.edit, b, left, right, lib0.ValidUTF8(s))
}

type Side int

const (
	Before Side = iota
	After
)

// InsertAt puts s directly next to the unit id, which may be deleted, on the given side. It returns false if the text
// has no such unit, or if the unit was garbage collected.
func (t *Text) InsertAt(tx *Txn, id ID, side Side, s string) bool {
	b := t.in(tx)
	store := tx.edit.Store
	r, ok := edit.UnitOf(&tx.edit, b, id)
	if !ok || b.Dead {
		return false
	}
	if s == "" {
		return true
	}
	home, clock := store.Items[r].Client, id.Clock
	left, right := structs.Ref(0), structs.Ref(0)
	if side == After {
		left = tx.edit.ItemEnding(home, clock)
		right = store.Items[left].Right
	} else {
		right = tx.edit.ItemStarting(home, clock)
		left = store.Items[right].Left
	}
	edit.InsertText(&tx.edit, b, left, right, lib0.ValidUTF8(s))
	return true
}

func (t *Text) Delete(tx *Txn, pos, n int) {
	b := t.in(tx)
	pos = clamp(pos, b.Length)
	if n = clamp(n, b.Length-pos); n > 0 && !b.Dead {
		edit.DeleteVisible(&tx.edit, b, pos, n)
	}
}

// String returns the committed text without embedded objects. The text of an unchanged Text is built once, so repeated
// calls are cheap. String does not wait for a running transaction if t has already read the text of the last commit.
func (t *Text) String() string { return t.view().Text }

// Len returns the committed length in UTF-16 units. Each embedded object counts as one unit.
func (t *Text) Len() int { return t.view().Length }

func (t *Text) StringIn(tx *Txn) string { return tx.edit.Store.Text(t.in(tx)) }

func (t *Text) LenIn(tx *Txn) int { return t.in(tx).Length }

func (t *Text) view() *ytypes.View {
	if b := t.branch.Load(); b != nil {
		if v := b.Committed.Load(); v != nil {
			return v
		}
	}
	v := &ytypes.View{}
	t.read(func(s *ytypes.Store, b *ytypes.Branch) {
		if b == nil {
			return
		}
		t.branch.Store(b)
		if read := b.Committed.Load(); read != nil {
			v = read
			return
		}
		v.Text, v.Length = s.Text(b), b.Length
		b.Committed.Store(v)
	})
	return v
}

// A Run is a range of visible text whose units have consecutive IDs. ID is the ID of the first unit; the other units
// have the same client and ascending clocks.
type Run struct {
	ID  ID
	Len int // UTF-16 units
}

// Runs returns the identity of every visible unit of the committed text, in order. With Runs and [Text.String] a caller
// can later find out which of the characters that a reader saw still exist. Each embedded object counts as one unit.
func (t *Text) Runs() []Run { return t.runs(func(*structs.Item) bool { return true }) }

// RunsIn returns Runs for the units from position from up to position to.
func (t *Text) RunsIn(from, to int) (runs []Run) {
	for _, p := range t.Pieces(from, to) {
		if !p.Deleted {
			runs = AppendRun(runs, Run{p.ID, p.Len})
		}
	}
	return runs
}

// AppendRun adds a run. It merges it with the last one if their IDs are consecutive.
func AppendRun(runs []Run, r Run) []Run {
	if k := len(runs) - 1; k >= 0 && runs[k].ID.Client == r.ID.Client && runs[k].ID.Clock+uint64(runs[k].Len) == r.ID.Clock {
		runs[k].Len += r.Len
		return runs
	}
	return append(runs, r)
}

// StringRuns returns Runs without embedded objects: the identity of the units of [Text.String].
func (t *Text) StringRuns() []Run {
	return t.runs(func(it *structs.Item) bool { return it.Kind == wire.KindString })
}

func (t *Text) runs(has func(*structs.Item) bool) (runs []Run) {
	t.read(func(s *ytypes.Store, b *ytypes.Branch) {
		if b == nil {
			return
		}
		visible := 0
		for r := b.Start; r != 0; r = s.Items[r].Right {
			if s.Items[r].VisibleUnits() > 0 {
				visible++
			}
		}
		runs = slices.Grow(runs, visible) // exact, because growing a long list copies it
		for r := b.Start; r != 0; r = s.Items[r].Right {
			it := &s.Items[r]
			n := int(it.VisibleUnits())
			if n == 0 || !has(it) {
				continue
			}
			runs = AppendRun(runs, Run{s.IDOf(it), n})
		}
	})
	return runs
}

// A Piece is a range of units of a text with consecutive IDs. Either all units are visible, or all are deleted.
type Piece struct {
	ID      ID
	Len     int // UTF-16 units
	Pos     int // position of the first unit; that of the next visible unit if the units are deleted
	Deleted bool
}

// Pieces returns the identity of every unit of the committed text from position from up to position to, in order. It
// includes deleted units, which keep their place forever, and those at both positions.
func (t *Text) Pieces(from, to int) (pieces []Piece) {
	t.read(func(s *ytypes.Store, b *ytypes.Branch) {
		if b == nil {
			return
		}
		r, pos := b.Start, 0
		if b.Positions != nil && 0 < from && from <= b.Length {
			var n int
			r, n = b.Positions.Locate(from)
			pos = from - n
		}
		for ; r != 0 && pos <= to; r = s.Items[r].Right {
			it := &s.Items[r]
			p := Piece{s.IDOf(it), int(it.VisibleUnits()), pos, it.Deleted()}
			pos += p.Len
			if p.Deleted {
				p.Len = int(it.Units())
			} else {
				cut := max(0, from-p.Pos)
				p.ID.Clock, p.Pos, p.Len = p.ID.Clock+uint64(cut), p.Pos+cut, min(p.Len, to-p.Pos)-cut
			}
			last := len(pieces) - 1
			switch {
			case p.Len <= 0 || p.Pos < from:
			case last >= 0 && pieces[last].Deleted == p.Deleted && pieces[last].ID.Client == p.ID.Client &&
				pieces[last].ID.Clock+uint64(pieces[last].Len) == p.ID.Clock:
				pieces[last].Len += p.Len
			default:
				pieces = append(pieces, p)
			}
		}
	})
	return pieces
}

// Find returns the places of the units of r that the committed text has, in the order of their clocks.
func (t *Text) Find(r Run) (pieces []Piece) {
	t.read(func(s *ytypes.Store, b *ytypes.Branch) {
		home := s.LookupClient(r.ID.Client)
		if b == nil || home == 0 {
			return
		}
		end := min(r.ID.Clock+uint64(r.Len), s.Clients[home].Next)
		for clock := r.ID.Clock; clock < end; {
			ref := s.FindItem(home, clock)
			it := &s.Items[ref]
			next := min(end, it.End())
			if it.Kind != wire.KindGC && it.Parent == b.Index && (it.Deleted() || it.VisibleUnits() > 0) {
				p := Piece{ID{Client: r.ID.Client, Clock: clock}, int(next - clock), s.Before(b, ref), it.Deleted()}
				if !p.Deleted {
					p.Pos += int(clock - it.From())
				}
				pieces = append(pieces, p)
			}
			clock = next
		}
	})
	return pieces
}
