package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// A run that ends in an opening brace reads "{++}" or "{--}" at its end. Parsers that take the text for a sequence of
// delimiters (lang-criticmarkup, MultiMarkdown) see an opener there. Lines of code end like that often, so runs are
// moved or widened until they end in something else.

// endsOpen reports whether text, followed by the closer of a run, would show an opener: plus is the closer's character.
func endsOpen(text string, plus byte) bool {
	return strings.HasSuffix(text, "{") || strings.HasSuffix(text, "{"+string(plus))
}

func (h hunk) endsOpen(old, new string) bool {
	return endsOpen(h.old.Of(old), '-') || endsOpen(h.new.Of(new), '+')
}

// closeEnds moves or widens the hunks that would leave a run with an open end. A run that adds or takes whole lines is
// moved down by its line break; any other takes the next token in. A hunk with nothing kept behind it stays.
func closeEnds(old, new side, hunks []hunk) []hunk {
	out := hunks[:0]
	for k := 0; k < len(hunks); k++ {
		h := hunks[k]
		for h.endsOpen(old.text, new.text) {
			limit := len(old.text)
			if k+1 < len(hunks) {
				limit = hunks[k+1].old.Start
			}
			if h.old.End < limit {
				next := nextToken(old.text[:limit], h.old.End, h.old.End, old.comments)
				if next.class == commentToken {
					break
				}
				h = h.moveOrWiden(old.text, new.text, next.Of(old.text))
				continue
			}
			if k+1 == len(hunks) {
				break
			}
			k++
			h.old.End, h.new.End = hunks[k].old.End, hunks[k].new.End
		}
		out = append(out, h)
	}
	return out
}

// moveOrWiden takes the kept text behind a hunk into it, or moves the hunk behind that text, if it has one side only
// and starts with the same.
func (h hunk) moveOrWiden(old, new, next string) hunk {
	n := len(next)
	if h.old.Empty() && strings.HasPrefix(h.new.Of(new), next) || h.new.Empty() && strings.HasPrefix(h.old.Of(old), next) {
		return hunk{h.old.Shift(n), h.new.Shift(n)}
	}
	return hunk{span.New(h.old.Start, h.old.End+n), span.New(h.new.Start, h.new.End+n)}
}

// endsOpenAt reports whether the new or the original text ends in an opening brace at a place where a region might end.
func (p *putter) endsOpenAt(at place, newEnd int) bool {
	if endsOpen(p.new[:newEnd], '+') {
		return true
	}
	original := ""
	for k := min(at.piece, len(p.pieces)-1); k >= 0 && len(original) < len("{-"); k-- {
		x := p.pieces[k]
		if end := min(x.End, at.off); end > x.Start && (x.role == kept || x.role == dropped) {
			original = p.doc.raw[max(x.Start, end-len("{-")):end] + original
		}
	}
	return endsOpen(original, '-')
}
