package ycrdt

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// Yjs formats text by Format items: markers that set a key to a JSON value for
// everything behind them; null ends a format. This package does not format,
// but it edits formatted text as Yjs does, so that both make the same items.

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

// formatOf returns key and value of a Format item.
func (s *store) formatOf(it *item) (key, value string) {
	r := lib0.NewReader(s.bytesOf(it))
	key = string(r.Bytes())
	return key, string(r.Bytes())
}

// seekFormatted walks to position pos. It returns the item that ends there (0
// at the start), splitting one if need be, and the formats that hold there. A
// position inside a surrogate pair is moved before it; back is 1 then.
func (tx *Txn) seekFormatted(b *branch, pos int) (left ref, attrs attributes, back int) {
	s := tx.store
	attrs = make(attributes)
	for r := b.start; r != 0 && pos > 0; r = s.items[r].right {
		it := &s.items[r]
		if !it.deleted() && it.kind == kindFormat {
			attrs.set(s.formatOf(it))
		} else if n := int(visibleUnits(it)); n > 0 {
			if pos < n {
				if s.insidePair(it, pos) {
					pos--
					back = 1
				}
				if pos == 0 {
					break
				}
				tx.splitItem(r, uint64(pos))
				n = pos
			}
			pos -= n
		}
		left = r
	}
	return left, attrs, back
}

func (s *store) after(b *branch, left ref) ref {
	if left == 0 {
		return b.start
	}
	return s.items[left].right
}

// insertFormatted inserts text at pos with the formats that hold there. It goes
// past deleted items and past formats that change nothing.
func (tx *Txn) insertFormatted(b *branch, pos int, text string) {
	s := tx.store
	left, attrs, _ := tx.seekFormatted(b, pos)
	for r := s.after(b, left); r != 0; r = s.items[r].right {
		it := &s.items[r]
		if !it.deleted() {
			if it.kind != kindFormat {
				break
			}
			if key, value := s.formatOf(it); attrs.get(key) != value {
				break
			}
		}
		left = r
	}
	tx.insertText(b, left, s.after(b, left), text)
}

// deleteFormatted deletes n units from pos on and the formats that have lost
// their effect with them.
func (tx *Txn) deleteFormatted(b *branch, pos, n int) {
	s := tx.store
	left, attrs, back := tx.seekFormatted(b, pos)
	start := s.after(b, left)
	tx.deleteFrom(start, n+back)
	tx.cleanFormats(start, attrs)
}

// cleanFormats deletes the formats between start and the next visible content
// that are overridden before that content or that repeat what held at start
// already (Yjs's cleanupFormattingGap).
func (tx *Txn) cleanFormats(start ref, attrs attributes) {
	s := tx.store
	last := make(map[string]ref) // the format of each key that takes effect
	end := start
	for ; end != 0 && visibleUnits(&s.items[end]) == 0; end = s.items[end].right {
		if it := &s.items[end]; it.kind == kindFormat && !it.deleted() {
			key, _ := s.formatOf(it)
			last[key] = end
		}
	}
	for r := start; r != end; r = s.items[r].right {
		it := &s.items[r]
		if it.kind != kindFormat || it.deleted() {
			continue
		}
		if key, value := s.formatOf(it); last[key] != r || sameScalar(attrs.get(key), value) {
			tx.deleteItem(r)
		}
	}
}

// sameScalar compares two JSON texts like JavaScript's === compares the parsed
// values: two objects are never the same.
func sameScalar(a, b string) bool {
	return a == b && a[0] != '{' && a[0] != '['
}
