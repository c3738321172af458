package grep

import (
	"slices"
	"strings"
	"unsafe"
)

// span is a range of bytes of a text.
type span struct{ start, end int }

// Matches says whether text has a match.
func (p *Pattern) Matches(text string) bool {
	text = trimBOM(text)
	found := false
	p.eachMatch(text, func(m span, _ int) bool {
		found = p.counts(text, m)
		return !found
	})
	return found
}

// counts says whether m, a match in text, is one to be counted: like ripgrep,
// not the empty one at the end of a text searched as a whole.
func (p *Pattern) counts(text string, m span) bool { return !p.multi || m.start < len(text) }

// Count is the number of matching lines of text; of matches if they can cross
// lines or if each is wanted.
func (p *Pattern) Count(text string, each bool) int {
	n := 0
	text = trimBOM(text)
	p.eachMatch(text, func(m span, _ int) bool {
		switch {
		case each && !p.multi:
			n += len(p.inLine(text, m))
		case p.counts(text, m):
			n++
		}
		return true
	})
	return n
}

// inLine returns the matches in the line l, relative to its start; empty ones,
// which have nothing to show, are left out.
func (p *Pattern) inLine(text string, l span) [][]int {
	var found [][]int
	p.eachIn(text[l.start:l.end], func(m []int) bool {
		if m[0] < m[1] {
			found = append(found, m)
		}
		return true
	})
	return found
}

// eachMatch calls fn with every matching line of text, without its line break,
// or, when matches can cross lines, with every match, until fn returns false. The
// offsets are those of trimBOM(text).
func (p *Pattern) eachMatch(text string, fn func(m span, i int) bool) {
	text = trimBOM(text)
	if p.multi {
		p.eachSpan(text, fn)
		return
	}
	p.eachLine(text, fn)
}

// trimBOM removes a byte order mark, which is not text.
func trimBOM(text string) string { return strings.TrimPrefix(text, "\ufeff") }

// eachSpan calls fn with every match in text. A match after the last line break
// is on no line, and none.
func (p *Pattern) eachSpan(text string, fn func(m span, i int) bool) {
	if !p.possible(text) || !p.matches(text) {
		return
	}
	i := -1
	p.eachIn(text, func(m []int) bool {
		i++
		return (m[0] < len(text) || text != "" && text[len(text)-1] != '\n') && fn(span{m[0], m[1]}, i)
	})
}

// matches says whether text, which begins with a line, has a match.
func (p *Pattern) matches(text string) bool {
	if p.dfa != nil {
		if off, ok := p.dfa.find(text); ok {
			return off >= 0
		}
	}
	return p.next(text, 0) != nil
}

// possible says whether text holds what the scan clause requires.
func (p *Pattern) possible(text string) bool {
	if len(p.scan.Any) == 0 {
		return true
	}
	if p.scan.Fold {
		text = folded(text)
	}
	return slices.ContainsFunc(p.literals, func(l literal) bool { return l.index(text) >= 0 })
}

// folded is Fold(text) without a pass over it first.
func folded(text string) string {
	b := AppendFold(make([]byte, 0, len(text)), text)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// eachLine calls fn with every matching line.
func (p *Pattern) eachLine(text string, fn func(line span, i int) bool) {
	next, exact := p.candidates(text)
	n := 0
	for off := 0; off < len(text) && !p.over(); {
		at := next(off)
		if at < 0 {
			return
		}
		l := span{off + lineStart(text[off:], at-off), lineEnd(text, at)}
		if exact || p.matches(text[l.start:l.end]) {
			if !fn(l, n) {
				return
			}
			n++
		}
		off = l.end + 1
	}
}

// candidates returns a function that finds the next offset, from the beginning
// of a line on, whose line may match, or -1. If it is exact, the line does.
func (p *Pattern) candidates(text string) (next func(off int) int, exact bool) {
	switch {
	case len(p.scan.Any) == 0 && p.dfa != nil:
		return p.byAutomaton(text)
	case len(p.scan.Any) == 0:
		return func(off int) int { return off }, false
	}
	hay := text
	if p.scan.Fold {
		// Folding keeps the offsets unless a rune has another length in its other
		// case; then every line of a text that holds the literals is looked at.
		if hay = folded(text); len(hay) != len(text) {
			if !p.possible(text) {
				return func(int) int { return -1 }, false
			}
			return func(off int) int { return off }, false
		}
	}
	s := searcher{text: hay, literals: p.literals, next: make([]int, len(p.literals))}
	return s.from, p.literal != ""
}

// byAutomaton finds candidates by the automaton, as far as it can tell.
func (p *Pattern) byAutomaton(text string) (next func(off int) int, exact bool) {
	return func(off int) int {
		at, ok := p.dfa.find(text[off:])
		switch {
		case !ok:
			return off
		case at < 0 || off+at == len(text) && text[len(text)-1] == '\n':
			return -1 // what is after the last line break is no line
		}
		return off + at
	}, false
}

// searcher finds the next of several literals. Each literal is searched for
// again only when its last place has been passed.
type searcher struct {
	text     string
	literals []literal
	next     []int // where each was found last; after the end if nowhere
}

func (s *searcher) from(off int) int {
	first := len(s.text)
	for i, lit := range s.literals {
		if s.next[i] < off || off == 0 {
			s.next[i] = len(s.text)
			if k := lit.index(s.text[off:]); k >= 0 {
				s.next[i] = off + k
			}
		}
		first = min(first, s.next[i])
	}
	if first == len(s.text) {
		return -1
	}
	return first
}
