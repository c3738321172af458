package diffwrap

import "strings"

// A run that ends in an opening brace reads "{++}" or "{--}" at its end. Parsers that take the text for a sequence of
// delimiters (lang-criticmarkup, MultiMarkdown) see an opener there. Lines of code end like that often, so runs are
// moved or widened until they end in something else.

// endsOpen reports whether text, followed by the closer of a run, would show an opener: plus is the closer's character.
func endsOpen(text string, plus byte) bool {
	return strings.HasSuffix(text, "{") || strings.HasSuffix(text, "{"+string(plus))
}

func (h hunk) endsOpen(old, new string) bool {
	return endsOpen(h.old.of(old), '-') || endsOpen(h.new.of(new), '+')
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
				limit = hunks[k+1].old.start
			}
			if h.old.end < limit {
				next := nextToken(old.text[:limit], h.old.end, h.old.end, old.comments)
				if next.class == commentToken {
					break
				}
				h = h.moveOrWiden(old.text, new.text, next.of(old.text))
				continue
			}
			if k+1 == len(hunks) {
				break
			}
			k++
			h.old.end, h.new.end = hunks[k].old.end, hunks[k].new.end
		}
		out = append(out, h)
	}
	return out
}

// moveOrWiden takes the kept text behind a hunk into it, or moves the hunk behind that text, if it has one side only
// and starts with the same.
func (h hunk) moveOrWiden(old, new, next string) hunk {
	n := len(next)
	if h.old.empty() && strings.HasPrefix(h.new.of(new), next) || h.new.empty() && strings.HasPrefix(h.old.of(old), next) {
		return hunk{h.old.shift(n), h.new.shift(n)}
	}
	return hunk{span{h.old.start, h.old.end + n}, span{h.new.start, h.new.end + n}}
}

// endsOpenAt reports whether the new or the original text ends in an opening brace at a place where a region might end.
func (p *putter) endsOpenAt(at place, newEnd int) bool {
	if endsOpen(p.new[:newEnd], '+') {
		return true
	}
	original := ""
	for k := min(at.piece, len(p.pieces)-1); k >= 0 && len(original) < len("{-"); k-- {
		x := p.pieces[k]
		if end := min(x.end, at.off); end > x.start && (x.role == kept || x.role == dropped) {
			original = p.doc.raw[max(x.start, end-len("{-")):end] + original
		}
	}
	return endsOpen(original, '-')
}
