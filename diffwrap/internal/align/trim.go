package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// differing returns the ranges between the common start and the common end of two texts. The ranges start before a line
// break or at the start of the texts, end at the end of a line, and cut no comment.
func differing(old, new Side) Hunk {
	head := commonHead(old, new)
	tail := commonTail(old, new, Hunk{span.New(head, len(old.Text)), span.New(head, len(new.Text))})
	return Hunk{span.New(head, len(old.Text)-tail), span.New(head, len(new.Text)-tail)}
}

// commonHead returns the length of the longest common start of both texts that ends at a line end.
func commonHead(old, new Side) int {
	o, n := old.Text, new.Text
	head := Prefix(o, n)
	if atLineEnd(o, head) && atLineEnd(n, head) && !cutsComment(old, new, head, head) {
		return head
	}
	for head > 0 {
		head = strings.LastIndexByte(o[:head], '\n')
		if head < 0 {
			return 0
		}
		if head = span.BreakStart(o, head, 0); !cutsComment(old, new, head, head) {
			return head
		}
	}
	return 0
}

func atLineEnd(text string, i int) bool {
	if strings.HasSuffix(text[:i], "\r") && strings.HasPrefix(text[i:], "\n") {
		return false
	}
	return i == len(text) || span.BreakLen(text[i:]) > 0
}

// commonTail returns the length of the longest common end of two ranges that starts with a line break.
func commonTail(old, new Side, h Hunk) int {
	o, n := h.Old.Of(old.Text), h.New.Of(new.Text)
	tail := Suffix(o, n)
	for from := 0; ; {
		at := strings.IndexByte(o[len(o)-tail+from:], '\n')
		if at < 0 {
			return 0
		}
		feed := from + at // offset of the line feed in the common end
		from = feed + 1
		oldAt, newAt := len(o)-tail+feed, len(n)-tail+feed
		oldBreak, newBreak := span.BreakStart(o, oldAt, 0), span.BreakStart(n, newAt, 0)
		if oldAt-oldBreak != newAt-newBreak || cutsComment(old, new, h.Old.Start+oldBreak, h.New.Start+newBreak) {
			continue
		}
		return len(o) - oldBreak
	}
}

// trimClusters removes from a hunk the grapheme clusters that its two sides have in common at the start and the end.
func trimClusters(oldText, newText string, h Hunk) Hunk {
	part := between(h.Old.Of(oldText), h.New.Of(newText))
	return Hunk{part.Old.Shift(h.Old.Start), part.New.Shift(h.New.Start)}
}
