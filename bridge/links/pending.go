package links

import "strings"

// flagPending sets Pending on the links that lie in a CriticMarkup suggestion.
// CriticMarkup knows nothing of Markdown: an opener counts wherever it stands,
// and the first closer of its own kind ends it.
func flagPending(text string, ls []Link) {
	if len(ls) == 0 {
		return
	}
	next := 0
	eachSuggestion(text, func(off, end int, p Pending) {
		for next < len(ls) && ls[next].Off < off {
			next++
		}
		for ; next < len(ls) && ls[next].Off < end; next++ {
			ls[next].Pending = p
		}
	})
}

// mark is one kind of CriticMarkup.
type mark struct{ open, close string }

var marks = [...]mark{{"{++", "++}"}, {"{--", "--}"}, {"{~~", "~~}"}, {"{>>", "<<}"}}

// eachSuggestion calls fn with the contents of every addition and deletion, in
// order. A substitution is both, split at its "~>".
func eachSuggestion(text string, fn func(off, end int, p Pending)) {
	var unclosed [len(marks)]bool
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			return
		}
		i += n
		kind := markAt(text[i:])
		if kind < 0 || unclosed[kind] {
			i++
			continue
		}
		off := i + len(marks[kind].open)
		n = strings.Index(text[off:], marks[kind].close)
		if n < 0 {
			unclosed[kind] = true
			i++
			continue
		}
		report(text, off, off+n, marks[kind].open, fn)
		i = off + n + len(marks[kind].close)
	}
}

func report(text string, off, end int, open string, fn func(off, end int, p Pending)) {
	switch open {
	case "{++":
		fn(off, end, PendingAddition)
	case "{--":
		fn(off, end, PendingDeletion)
	case "{~~":
		if n := strings.Index(text[off:end], "~>"); n >= 0 {
			fn(off, off+n, PendingDeletion)
			fn(off+n+len("~>"), end, PendingAddition)
		}
	}
}

// markAt is the index in marks of the opener at the start of s, or -1.
func markAt(s string) int {
	for i, m := range marks {
		if strings.HasPrefix(s, m.open) {
			return i
		}
	}
	return -1
}
