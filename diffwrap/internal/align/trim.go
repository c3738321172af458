package align

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// differing returns the ranges between the common start and the common end of two texts. The ranges start before a line
// break or at the start of the texts, end at the end of a line, and cut no comment.
func differing(old, new Side) Hunk {
	oldEnd, newEnd := withoutFinalBreak(old, new)
	head := commonHead(old, new, oldEnd, newEnd)
	tail := commonTail(old, new, Hunk{span.New(head, oldEnd), span.New(head, newEnd)})
	return Hunk{span.New(head, oldEnd-tail), span.New(head, newEnd-tail)}
}

// withoutFinalBreak returns the ends of both texts without a final line break that both have. So appended text goes
// before the final break, and the stored text still ends with a break.
func withoutFinalBreak(old, new Side) (oldEnd, newEnd int) {
	a, b := old.Text, new.Text
	if !strings.HasSuffix(a, "\n") || !strings.HasSuffix(b, "\n") {
		return len(a), len(b)
	}
	o, n := span.BreakStart(a, len(a)-1, 0), span.BreakStart(b, len(b)-1, 0)
	if a[o:] != b[n:] || cutsComment(old, new, o, n) {
		return len(a), len(b)
	}
	return o, n
}

// commonHead returns the length of the longest common start of both texts that ends at a line end.
func commonHead(old, new Side, oldEnd, newEnd int) int {
	o, n := old.Text[:oldEnd], new.Text[:newEnd]
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
