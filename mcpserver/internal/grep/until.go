package grep

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// Package regexp takes time linear in the text, but also in the pattern, and a match cannot
// be cancelled. So the size of a pattern is bounded, a long text is read rune by rune, and the
// matches of a text are found one by one.
const (
	// maxProgram bounds a pattern, in instructions of its program.
	maxProgram = 1 << 15
	// maxUnbroken bounds the work between two checks for cancellation, in instructions times
	// bytes: about a tenth of a second.
	maxUnbroken = 1 << 24
	// lookEvery is the number of runes read between two checks.
	lookEvery = 1 << 10
)

// Until returns a copy of p whose searches end early, with what they found so far, once done
// is closed.
func (p *Pattern) Until(done <-chan struct{}) *Pattern {
	q := *p
	q.done = done
	return &q
}

// over reports whether the search is cancelled.
func (p *Pattern) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// eachIn calls fn with every match in text that FindAllStringIndex finds, until fn returns
// false.
func (p *Pattern) eachIn(text string, fn func(m []int) bool) {
	end := -1 // of the previous match
	for pos := 0; pos <= len(text); {
		m := p.next(text, pos)
		if m == nil {
			return
		}
		empty := m[1] == pos
		if !(empty && m[0] == end) && !fn(m) {
			return
		}
		if end = m[1]; !empty {
			pos = end
			continue
		}
		_, n := utf8.DecodeRuneInString(text[pos:])
		pos += max(n, 1)
	}
}

// next returns the first match from pos on, nil if there is none. What precedes pos counts
// for '^' and \b.
func (p *Pattern) next(text string, pos int) []int {
	if p.over() {
		return nil
	}
	if pos == 0 {
		if p.size*len(text) <= maxUnbroken {
			return p.re.FindStringIndex(text)
		}
		return p.still(p.re.FindReaderIndex(&endingReader{text: text, p: p}))
	}
	// With the rune before pos in the text, '^' and \b see what precedes pos.
	_, n := utf8.DecodeLastRuneInString(text[:pos])
	base := pos - n
	var m []int
	if p.size*(len(text)-base) <= maxUnbroken {
		m = p.behind().FindStringSubmatchIndex(text[base:])
	} else {
		m = p.still(p.behind().FindReaderSubmatchIndex(&endingReader{text: text[base:], p: p}))
	}
	if m == nil {
		return nil
	}
	return []int{base + m[2], base + m[3]}
}

// still returns m, or nil if the search was cancelled before all of the text was read.
func (p *Pattern) still(m []int) []int {
	if p.over() {
		return nil
	}
	return m
}

// afterOneRune returns expr as the first group, after one rune.
func afterOneRune(expr string) *regexp.Regexp {
	return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + expr + `)`)
}

// endingReader reads a text until the search is cancelled.
type endingReader struct {
	text string
	p    *Pattern
	off  int
	n    int // runes so far
}

func (r *endingReader) ReadRune() (c rune, size int, err error) {
	if r.n++; r.off == len(r.text) || r.n%lookEvery == 0 && r.p.over() {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRuneInString(r.text[r.off:])
	r.off += size
	return c, size, nil
}
