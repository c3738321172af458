package ytypes

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

type View struct {
	Text   string
	Length int
}

// scanLimit is the number of items that a search by position walks. If it must go further, it builds a position index.
const scanLimit = 64

// Locate returns the item that contains the unit before position pos, and the number of units of that item before pos.
// For pos 0 it returns item 0. pos is at most b.Length.
func (s *Store) Locate(b *Branch, pos int) (r structs.Ref, off int) {
	if pos == 0 {
		return 0, 0
	}
	if b.Positions == nil {
		rest := pos
		r = b.Start
		for range scanLimit {
			n := int(s.Items[r].VisibleUnits())
			if rest <= n {
				return r, rest
			}
			rest -= n
			if r = s.Items[r].Right; r == 0 {
				panic("ycrdt: position beyond the end")
			}
		}
		b.Positions = NewIndex(&s.Slab, b.Start)
	}
	return b.Positions.Locate(pos)
}

// Before returns the number of visible units before an item of b.
func (s *Store) Before(b *Branch, r structs.Ref) int {
	if b.Positions == nil {
		b.Positions = NewIndex(&s.Slab, b.Start)
	}
	return b.Positions.Before(&s.Slab, r)
}

func (s *Store) After(b *Branch, left structs.Ref) structs.Ref {
	if left == 0 {
		return b.Start
	}
	return s.Items[left].Right
}

func (s *Store) Text(b *Branch) string {
	if v := b.Committed.Load(); v != nil && b.Changed != s.Epoch {
		return v.Text
	}
	var text strings.Builder
	text.Grow(b.Length) // exact for ASCII
	for r := b.Start; r != 0; r = s.Items[r].Right {
		if it := &s.Items[r]; it.Kind == wire.KindString && !it.Deleted() {
			text.Write(s.Arena.Of(it))
		}
	}
	if text.Cap() > text.Len()+text.Len()/8 {
		return strings.Clone(text.String())
	}
	return text.String()
}
