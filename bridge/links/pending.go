package links

import (
	"slices"
	"strings"
)

type mark struct{ open, close string }

var marks = [...]mark{{"{++", "++}"}, {"{--", "--}"}, {"{~~", "~~}"}, {"{>>", "<<}"}}

// flagPending sets Pending on the links, in the order of the text, that lie in a
// CriticMarkup suggestion. CriticMarkup ignores Markdown: an opener counts anywhere, and
// the next closer of its kind ends it.
func flagPending(text string, ls []Link) {
	var unclosed [len(marks)]bool
	for i := 0; len(ls) > 0; {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			return
		}
		i += n
		kind := slices.IndexFunc(marks[:], func(m mark) bool { return strings.HasPrefix(text[i:], m.open) })
		if kind < 0 || unclosed[kind] {
			i++
			continue
		}
		m := marks[kind]
		off := i + len(m.open)
		n = strings.Index(text[off:], m.close)
		if n < 0 {
			unclosed[kind] = true
			i++
			continue
		}
		end := off + n
		switch m.open {
		case "{++":
			ls = flag(ls, off, end, PendingAddition)
		case "{--":
			ls = flag(ls, off, end, PendingDeletion)
		case "{~~":
			if n := strings.Index(text[off:end], "~>"); n >= 0 {
				ls = flag(ls, off, off+n, PendingDeletion)
				ls = flag(ls, off+n+len("~>"), end, PendingAddition)
			}
		}
		i = end + len(m.close)
	}
}

// flag sets Pending on the links between off and end, and returns those after end.
func flag(ls []Link, off, end int, p Pending) []Link {
	for ; len(ls) > 0 && ls[0].Off < end; ls = ls[1:] {
		if ls[0].Off >= off {
			ls[0].Pending = p
		}
	}
	return ls
}
