package marking

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
)

// A run that ends in an opening brace gives "{++}" or "{--}" with its closer. Parsers that treat the text as a sequence
// of delimiters (lang-criticmarkup, MultiMarkdown) see an opener there. Lines of code often end in a brace, so runs are
// moved or widened until they end in another character.

func endsOpen(h align.Hunk, old, new string) bool {
	return critic.EndsOpen(h.Old.Of(old), '-') || critic.EndsOpen(h.New.Of(new), '+')
}

// closeEnds moves or widens the hunks whose runs would end in an opening brace. A run that only adds or only deletes
// text, and starts with the token after it, moves by that token; any other run grows by the token. A hunk directly
// before another hunk is joined with that hunk. A hunk before a comment or at the end of the text stays as it is.
func closeEnds(old, new align.Side, hunks []align.Hunk) []align.Hunk {
	out := hunks[:0]
	for k := 0; k < len(hunks); k++ {
		h := hunks[k]
		for endsOpen(h, old.Text, new.Text) {
			limit := len(old.Text)
			if k+1 < len(hunks) {
				limit = hunks[k+1].Old.Start
			}
			if h.Old.End < limit {
				next := markdown.Next(old.Text[:limit], h.Old.End, h.Old.End, old.Comments)
				if next.Class == markdown.Comment {
					break
				}
				h = moveOrWiden(h, old.Text, new.Text, next.Of(old.Text))
				continue
			}
			if k+1 == len(hunks) {
				break
			}
			k++
			h = h.Union(hunks[k])
		}
		out = append(out, h)
	}
	return out
}

// moveOrWiden extends a hunk by the unchanged text after it. If the hunk has only one side, and that side starts with
// the same text, moveOrWiden moves the hunk after the unchanged text instead.
func moveOrWiden(h align.Hunk, old, new, next string) align.Hunk {
	n := len(next)
	if h.Old.Empty() && strings.HasPrefix(h.New.Of(new), next) || h.New.Empty() && strings.HasPrefix(h.Old.Of(old), next) {
		return h.Shift(n)
	}
	return h.Grow(0, n)
}
