package align

import (
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Diff returns a small script of edits that turns old into new: no larger than what lies between the texts' common start
// and end, and of that size one edit, since what somebody typed in one place is that.
func Diff(old, new string) []span.Edit {
	if old == "" && new != "" {
		return []span.Edit{{New: new}}
	}
	hunks := Exact(Side{Text: old}, Side{Text: new})
	size := 0
	for _, h := range hunks {
		size += h.Old.Len() + h.New.Len()
	}
	head := Prefix(old, new)
	tail := Suffix(old[head:], new[head:])
	if least := len(old) + len(new) - 2*(head+tail); size > least || size == least && len(hunks) > 1 {
		if h := between(old, new, head, tail); h.Old.Len()+h.New.Len() <= size {
			hunks = []Hunk{h}
		}
	}
	return edits(hunks, new)
}

// Words returns a script that turns old into new and is fit to be read: it changes whole words.
func Words(old, new string) []span.Edit {
	return edits(Readable(Side{Text: old}, Side{Text: new}, true, nil), new)
}

// DiffKeepingWords returns a script that turns old into new and leaves each word that they share, in order.
func DiffKeepingWords(old, new string) []span.Edit {
	return edits(KeepWords(old, new, Exact(Side{Text: old}, Side{Text: new})), new)
}

func edits(hunks []Hunk, new string) []span.Edit {
	var out []span.Edit
	for _, h := range hunks {
		out = span.Append(out, span.Edit{Off: h.Old.Start, Len: h.Old.Len(), New: h.New.Of(new)})
	}
	return out
}

// between is what differs of two texts that have a start and an end in common, of so many bytes, without a part of a grapheme
// cluster.
func between(old, new string, head, tail int) Hunk {
	for at := -1; at != head; {
		at = head
		head = borderBefore(new, borderBefore(old, head))
	}
	for at := -1; at != tail; {
		at = tail
		tail = len(old) - borderAfter(old, len(old)-tail)
		tail = len(new) - borderAfter(new, len(new)-tail)
	}
	return Hunk{span.New(head, len(old)-tail), span.New(head, len(new)-tail)}
}

// borderBefore is the last border of two grapheme clusters at or before an offset.
func borderBefore(text string, at int) int {
	border := 0
	for i := span.LineStart(text, at); i <= at; i += markdown.ClusterLength(text[i:]) {
		if border = i; i == len(text) {
			break
		}
	}
	return border
}

// borderAfter is the first border of two grapheme clusters at or after an offset.
func borderAfter(text string, at int) int {
	i := span.LineStart(text, at)
	for i < at {
		i += markdown.ClusterLength(text[i:])
	}
	return i
}
