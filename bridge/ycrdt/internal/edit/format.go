package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Yjs formats text by Format items: markers that set a key to a JSON value for everything after them; null ends a
// format. This package does not format, but it edits formatted text as Yjs does, so that both create the same items.

// attributes maps the keys of formats to the JSON text of their values.
type attributes map[string]string

const jsonNull = "null"

func (a attributes) get(key string) string {
	if v, ok := a[key]; ok {
		return v
	}
	return jsonNull
}

func (a attributes) set(key, value string) {
	if value == jsonNull {
		delete(a, key)
	} else {
		a[key] = value
	}
}

func formatOf(s *ytypes.Store, it *structs.Item) (key, value string) {
	r := lib0.NewReader(s.Arena.Of(it))
	key = string(r.Bytes())
	return key, string(r.Bytes())
}

// seekFormatted walks to position pos. It returns the item that ends there (0 at the start), splitting an item if
// necessary, and the formats that apply there. If pos is inside a surrogate pair, it stops before the pair and returns
// back = 1.
func seekFormatted(tx *Txn, b *ytypes.Branch, pos int) (left structs.Ref, attrs attributes, back int) {
	s := tx.Store
	attrs = make(attributes)
	for r := b.Start; r != 0 && pos > 0; r = s.Items[r].Right {
		it := &s.Items[r]
		if !it.Deleted() && it.Kind == wire.KindFormat {
			attrs.set(formatOf(s, it))
		} else if n := int(it.VisibleUnits()); n > 0 {
			if pos < n {
				if s.Arena.InsidePair(it, pos) {
					pos--
					back = 1
				}
				if pos == 0 {
					break
				}
				tx.SplitItem(r, uint64(pos))
				n = pos
			}
			pos -= n
		}
		left = r
	}
	return left, attrs, back
}

// InsertFormatted inserts text at pos with the formats that apply there. It puts the text after deleted items at pos,
// and after formats that have no effect there.
func InsertFormatted(tx *Txn, b *ytypes.Branch, pos int, text string) {
	s := tx.Store
	left, attrs, _ := seekFormatted(tx, b, pos)
	for r := s.After(b, left); r != 0; r = s.Items[r].Right {
		it := &s.Items[r]
		if !it.Deleted() {
			if it.Kind != wire.KindFormat {
				break
			}
			if key, value := formatOf(s, it); attrs.get(key) != value {
				break
			}
		}
		left = r
	}
	InsertText(tx, b, left, s.After(b, left), text)
}

// DeleteFormatted deletes n units from pos, and the formats that have no effect after that.
func DeleteFormatted(tx *Txn, b *ytypes.Branch, pos, n int) {
	s := tx.Store
	left, attrs, back := seekFormatted(tx, b, pos)
	start := s.After(b, left)
	deleteFrom(tx, start, n+back)
	cleanFormats(tx, start, attrs)
}

// cleanFormats deletes formats between start and the next visible content: those that are overridden before that
// content, and those that repeat a format in effect at start (as cleanupFormattingGap does in Yjs).
func cleanFormats(tx *Txn, start structs.Ref, attrs attributes) {
	s := tx.Store
	last := make(map[string]structs.Ref) // the effective format of each key
	end := start
	for ; end != 0 && s.Items[end].VisibleUnits() == 0; end = s.Items[end].Right {
		if it := &s.Items[end]; it.Kind == wire.KindFormat && !it.Deleted() {
			key, _ := formatOf(s, it)
			last[key] = end
		}
	}
	for r := start; r != end; r = s.Items[r].Right {
		it := &s.Items[r]
		if it.Kind != wire.KindFormat || it.Deleted() {
			continue
		}
		if key, value := formatOf(s, it); last[key] != r || sameScalar(attrs.get(key), value) {
			tx.DeleteItem(r)
		}
	}
}

// sameScalar compares two JSON texts as JavaScript's === compares the parsed values: two objects are never the same.
func sameScalar(a, b string) bool {
	return a == b && a[0] != '{' && a[0] != '['
}
