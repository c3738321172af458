package align

import (
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Diff implements diffwrap.Diff.
func Diff(old, new string) []span.Edit {
	r := &Comparer{}
	return edits(smallest(old, new, typed(r, old, new)), new)
}

// typed compares a text with the text that a user made of it.
func typed(r *Comparer, old, new string) []Hunk {
	return compareExact(r, Side{Text: old}, Side{Text: new}, mode{exact: true, typed: true})
}

// smallest returns the hunks, or a single hunk if it is as small, because the text was probably changed in one place.
func smallest(old, new string, hunks []Hunk) []Hunk {
	size := 0
	for _, h := range hunks {
		size += h.Old.Len() + h.New.Len()
	}
	h := between(old, new)
	if n := h.Old.Len() + h.New.Len(); n < size || n == size && len(hunks) > 1 {
		hunks = []Hunk{h}
	}
	return hunks
}

func Words(old, new string) []span.Edit {
	return edits((&Comparer{}).Readable(Side{Text: old}, Side{Text: new}, true, nil), new)
}

// DiffKeepingWords returns a script that keeps the words that both texts have. See KeepWords for letters.
func DiffKeepingWords(old, new string, letters bool) []span.Edit {
	var r Comparer
	keep := func(hunks []Hunk) []Hunk { return r.KeepWords(Side{Text: old}, Side{Text: new}, hunks, letters) }
	return edits(keep(smallest(old, new, keep(typed(&r, old, new)))), new)
}

func edits(hunks []Hunk, new string) []span.Edit {
	var out []span.Edit
	for _, h := range hunks {
		out = span.Append(out, span.Edit{Off: h.Old.Start, Len: h.Old.Len(), New: h.New.Of(new)})
	}
	return out
}

// between returns the part in which two texts differ, in whole grapheme clusters.
func between(old, new string) Hunk {
	head := Prefix(old, new)
	for at := -1; at != head; {
		at = head
		head = borderBefore(new, borderBefore(old, head))
	}
	tail := Suffix(old[head:], new[head:])
	for at := -1; at != tail; {
		at = tail
		tail = len(old) - borderAfter(old, len(old)-tail)
		tail = len(new) - borderAfter(new, len(new)-tail)
	}
	return Hunk{span.New(head, len(old)-tail), span.New(head, len(new)-tail)}
}

// borderBefore returns the last grapheme cluster boundary at or before an offset.
func borderBefore(text string, at int) int {
	border := 0
	for i := span.LineStart(text, at); i <= at; i += markdown.ClusterLength(text[i:]) {
		if border = i; i == len(text) {
			break
		}
	}
	return border
}

// borderAfter returns the first grapheme cluster boundary at or after an offset.
func borderAfter(text string, at int) int {
	i := span.LineStart(text, at)
	for i < at {
		i += markdown.ClusterLength(text[i:])
	}
	return i
}
