package grep

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

type span struct{ start, end int }

func (p *Pattern) Matches(text string) bool {
	text = p.searched(text)
	found := false
	p.eachMatch(text, func(m span) bool {
		found = p.counts(text, m)
		return !found
	})
	return found
}

// counts reports whether ripgrep would count m. With Multiline, an empty match at the end of a text does not count.
func (p *Pattern) counts(text string, m span) bool { return !p.multi || m.start < len(text) }

// Count returns the number of matching lines. If each is set, or matches can cross lines, it returns the number of
// matches.
func (p *Pattern) Count(text string, each bool) int {
	n := 0
	text = p.searched(text)
	p.eachMatch(text, func(m span) bool {
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

func (p *Pattern) inLine(text string, l span) [][]int {
	var found [][]int
	p.eachIn(text[l.start:l.end], func(m []int) bool {
		if m[0] < m[1] {
			found = append(found, m)
		}
		return true
	})
	if len(found) == 0 && p.withoutBoundary != nil { // the line matches only with Unicode word boundaries
		found = slices.DeleteFunc(p.withoutBoundary().FindAllStringIndex(text[l.start:l.end], -1), func(m []int) bool { return m[0] == m[1] })
	}
	return found
}

// eachMatch calls fn with every matching line without its line break, until fn returns false. If matches can cross
// lines, it calls fn with every match instead.
func (p *Pattern) eachMatch(text string, fn func(m span) bool) {
	text = trimBOM(text)
	if p.multi {
		p.eachSpan(text, fn)
	} else {
		p.eachLine(text, fn)
	}
}

// searched removes a byte order mark and, unless the pattern contains \r, replaces CRLF with LF.
func (p *Pattern) searched(text string) string {
	text = trimBOM(text)
	if p.cr || !strings.Contains(text, "\r\n") {
		return text
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

func trimBOM(text string) string { return strings.TrimPrefix(text, "\ufeff") }

// eachSpan calls fn with every match. It ignores an empty match after the last line break, because no line follows
// there.
func (p *Pattern) eachSpan(text string, fn func(m span) bool) {
	if !p.possible(text) || !p.matches(text) {
		return
	}
	p.eachIn(text, func(m []int) bool {
		return (m[0] < len(text) || text != "" && text[len(text)-1] != '\n') && fn(span{m[0], m[1]})
	})
}

func (p *Pattern) matches(text string) bool {
	if p.dfa != nil {
		if off, ok := p.dfa.find(text); ok {
			return off >= 0
		}
	}
	return p.next(text, 0) != nil
}

func (p *Pattern) possible(text string) bool {
	return !p.scansLiterals() || slices.ContainsFunc(p.scan, func(s string) bool { return strings.Contains(text, s) })
}

func (p *Pattern) eachLine(text string, fn func(line span) bool) {
	off, done := 0, false
	if !p.scansLiterals() && p.dfa != nil {
		if off, done = p.dfa.eachLine(text, p.isCancelled, fn); done {
			return
		}
	}
	next, exact := p.candidates(text)
	for off < len(text) && !p.isCancelled() {
		at := next(off)
		if at < 0 {
			return
		}
		l := span{off + lineStart(text[off:], at-off), lineEnd(text, at)}
		if (exact || p.matches(text[l.start:l.end])) && !fn(l) {
			return
		}
		off = l.end + 1
	}
}

// candidates returns a function that maps an offset to the next offset whose line may match, or to -1 if there is none.
// If exact is set, that line does match.
func (p *Pattern) candidates(text string) (next func(off int) int, exact bool) {
	if !p.scansLiterals() {
		return func(off int) int { return off }, false
	}
	s := searcher{text: text, literals: p.scan, next: make([]int, len(p.scan))}
	return s.from, p.literal != ""
}

func (p *Pattern) scansLiterals() bool { return len(p.scan) > 0 }

// searcher finds the next occurrence of any of several literals. It stores the next occurrence of each literal, so that
// it does not search the same text twice.
type searcher struct {
	text     string
	literals []string
	next     []int // offset of the next occurrence of each literal; len(text) if there is none
}

func (s *searcher) from(off int) int {
	first := len(s.text)
	for i, lit := range s.literals {
		if s.next[i] < off || off == 0 {
			s.next[i] = len(s.text)
			if k := strings.Index(s.text[off:], lit); k >= 0 {
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

// Package regexp takes time linear in the lengths of the text and the pattern, and cannot be cancelled. Therefore the
// size of patterns is limited, long texts are read rune by rune, and matches are found one at a time.
const (
	// maxProgram is the maximum number of instructions of a pattern.
	maxProgram = 1 << 15
	// maxUnbroken is the maximum work between two checks for cancellation, in instructions times bytes. This work takes
	// about a tenth of a second.
	maxUnbroken = 1 << 24
	// lookEvery is the number of runes between two checks for cancellation.
	lookEvery = 1 << 10
)

// Until returns a copy of p whose searches stop when done is closed.
func (p *Pattern) Until(done <-chan struct{}) *Pattern {
	q := *p
	q.done = done
	return &q
}

func (p *Pattern) isCancelled() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// eachIn calls fn with all matches in order, until fn returns false. Like ripgrep, and unlike FindAllStringIndex, it
// includes empty matches that begin where another match ends.
func (p *Pattern) eachIn(text string, fn func(m []int) bool) {
	for pos := 0; pos <= len(text); {
		m := p.next(text, pos)
		if m == nil || !fn(m) {
			return
		}
		pos = m[1]
		if m[0] == m[1] {
			_, n := utf8.DecodeRuneInString(text[pos:])
			pos += max(n, 1)
		}
	}
}

// next returns the first match from pos on. For '^' and \b it takes the text before pos into account, which takes many
// times as long.
func (p *Pattern) next(text string, pos int) []int {
	if p.isCancelled() {
		return nil
	}
	if pos == 0 || !p.conditional {
		var m []int
		if rest := text[pos:]; p.size*len(rest) <= maxUnbroken {
			m = p.re.FindStringIndex(rest)
		} else {
			m = p.unlessCancelled(p.re.FindReaderIndex(&endingReader{text: rest, p: p}))
		}
		if m == nil {
			return nil
		}
		return []int{pos + m[0], pos + m[1]}
	}
	// The search starts with the rune before pos, so that '^' and \b match correctly at pos.
	_, n := utf8.DecodeLastRuneInString(text[:pos])
	base := pos - n
	var m []int
	if p.size*(len(text)-base) <= maxUnbroken {
		m = p.afterRune().FindStringSubmatchIndex(text[base:])
	} else {
		m = p.unlessCancelled(p.afterRune().FindReaderSubmatchIndex(&endingReader{text: text[base:], p: p}))
	}
	if m == nil {
		return nil
	}
	return []int{base + m[2], base + m[3]}
}

func (p *Pattern) unlessCancelled(m []int) []int {
	if p.isCancelled() {
		return nil
	}
	return m
}

func afterOneRune(expr string) *regexp.Regexp {
	return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + expr + `)`)
}

type endingReader struct {
	text string
	p    *Pattern
	off  int
	n    int // number of runes read
}

func (r *endingReader) ReadRune() (c rune, size int, err error) {
	if r.n++; r.off == len(r.text) || r.n%lookEvery == 0 && r.p.isCancelled() {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRuneInString(r.text[r.off:])
	r.off += size
	return c, size, nil
}
