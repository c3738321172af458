package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Side struct {
	Text     string
	Comments []span.Span // CriticMarkup comments in Text, which Readable never cuts
}

// within returns a range of a side as a separate text.
func (s Side) within(x span.Span) Side {
	return Side{x.Of(s.Text), span.Shift(Inside(s.Comments, x), -x.Start)}
}

func Inside(comments []span.Span, s span.Span) []span.Span {
	at := func(off int) int {
		k, _ := slices.BinarySearchFunc(comments, off, func(c span.Span, off int) int { return c.Start - off })
		return k
	}
	from, to := at(s.Start), at(s.End)
	if from < to && comments[to-1].End > s.End {
		to--
	}
	return comments[from:to]
}

func touched(comments []span.Span, s span.Span) int {
	k, _ := slices.BinarySearchFunc(comments, s.Start, func(c span.Span, off int) int { return c.End - off - 1 })
	n := 0
	for k+n < len(comments) && comments[k+n].Start < s.End {
		n++
	}
	return n
}

func InComment(comments []span.Span, off int) bool {
	c, ok := commentAround(comments, off)
	return ok && c.Start < off
}

// commentAround returns the comment that contains off or starts there.
func commentAround(comments []span.Span, off int) (span.Span, bool) {
	k, _ := slices.BinarySearchFunc(comments, off, func(c span.Span, off int) int { return c.End - off - 1 })
	if k < len(comments) && comments[k].Start <= off {
		return comments[k], true
	}
	return span.Span{}, false
}

func cutsComment(old, new Side, oldAt, newAt int) bool {
	return InComment(old.Comments, oldAt) || InComment(new.Comments, newAt)
}
