package ytypes

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A View is the committed content of a Text.
type View struct {
	Text   string
	Length int
}

// scanLimit is how many items a search by position walks from the start of a list before it builds a position index.
const scanLimit = 64

// Locate returns the item that holds the unit before position pos, and how many
// of its units lie before pos; item 0 if pos is 0. pos is at most b.Length.
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

// After returns the item after left in the list of b, the first if left is 0.
func (s *Store) After(b *Branch, left structs.Ref) structs.Ref {
	if left == 0 {
		return b.Start
	}
	return s.Items[left].Right
}

// Text puts the visible text of b together.
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
