package align

import (
	"slices"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// This file finds the common parts of two texts or two sequences. The work is bounded by size instead of time, so that
// the same input gives the same output on any machine.

// maxWork bounds a full comparison. For each sequence, count the tokens that also occur in the other sequence; maxWork
// is the maximum product of the two counts.
const maxWork = 4 << 20

func Unmatched(n int) []int { return slices.Repeat([]int{-1}, n) }

// Matcher matches sequences of interned tokens. It reuses its tables; the zero value is empty.
type Matcher struct {
	// The tables are indexed by token. Between uses all are zero except the table of last indices.
	countA, countB []int // occurrences of a token
	where          []int // last index of a token in b
	numbers        []int // number of a token that matchFully compares, from 1

	ai, bi []int    // indices found by survey
	unique [][2]int // unique pairs found by survey
	back   []int    // inverse of the matching, for Slide
}

// Match matches two sequences: result[i] is the index in b of a[i]'s partner, or -1. Partners are equal and their
// indices ascend. The matching is a longest common subsequence unless the work for it exceeds maxWork. If it does, the
// tokens that occur once on each side are anchors, and the ranges between anchors are matched in the same way. If a
// range is too large and has no anchors, only its common start and end are matched.
func (m *Matcher) Match(a, b []int) []int {
	match := Unmatched(len(a))
	m.Part(a, b, 0, match)
	m.Slide(a, b, match)
	return match
}

// Part matches a with b, which starts at index base of the whole second sequence. match has one entry for each token of
// a. Part does not call Slide.
func (m *Matcher) Part(a, b []int, base int, match []int) {
	if size := max(sizeOf(a), sizeOf(b)); size > len(m.countA) {
		size = max(size, 2*len(m.countA))
		m.countA, m.countB, m.where, m.numbers = make([]int, size), make([]int, size), make([]int, size), make([]int, size)
	}
	m.part(a, b, base, match)
}

func sizeOf(tokens []int) (size int) {
	for _, t := range tokens {
		size = max(size, t+1)
	}
	return size
}

// part does the same as Part. The tables must be large enough.
func (m *Matcher) part(a, b []int, base int, match []int) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		match[head] = base + head
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
		match[len(a)-tail] = base + len(b) - tail
	}
	a, b, match, base = a[head:len(a)-tail], b[head:len(b)-tail], match[head:len(match)-tail], base+head
	if len(a) == 0 || len(b) == 0 {
		return
	}
	m.survey(a, b)
	switch {
	case len(m.ai) == 0 || len(m.bi) == 0:
	case len(m.ai)*len(m.bi) <= maxWork:
		m.matchFully(a, b, base, match)
	default:
		m.matchAnchors(a, b, base, match)
	}
}

// survey finds the indices of the tokens that occur on both sides, because other tokens cannot match. It also finds the
// index pairs of the tokens that occur once on each side.
func (m *Matcher) survey(a, b []int) {
	m.ai, m.bi = slices.Grow(m.ai[:0], len(a)), slices.Grow(m.bi[:0], len(b))
	m.unique = slices.Grow(m.unique[:0], min(len(a), len(b)))
	for _, t := range a {
		m.countA[t]++
	}
	for j, t := range b {
		m.countB[t]++
		m.where[t] = j
		if m.countA[t] > 0 {
			m.bi = append(m.bi, j)
		}
	}
	for i, t := range a {
		if m.countB[t] > 0 {
			m.ai = append(m.ai, i)
		}
		if m.countA[t] == 1 && m.countB[t] == 1 {
			m.unique = append(m.unique, [2]int{i, m.where[t]})
		}
	}
	for _, t := range a {
		m.countA[t] = 0
	}
	for _, t := range b {
		m.countB[t] = 0
	}
}

// matchAnchors matches the tokens that occur once on each side along their longest increasing chain, as patience diff
// does, and then the ranges between them.
func (m *Matcher) matchAnchors(a, b []int, base int, match []int) {
	chain := longestChain(m.unique)
	if len(chain) == 0 {
		return
	}
	i, j := 0, 0
	for _, p := range chain {
		match[p[0]] = base + p[1]
		m.part(a[i:p[0]], b[j:p[1]], base+j, match[i:p[0]])
		i, j = p[0]+1, p[1]+1
	}
	m.part(a[i:], b[j:], base+j, match[i:])
}

// longestChain returns the longest subsequence of pairs with ascending second members, by patience sorting.
func longestChain(pairs [][2]int) [][2]int {
	piles := make([]int, 0, len(pairs)) // index of the top pair of each pile
	previous := make([]int, len(pairs))
	for k, p := range pairs {
		at, _ := slices.BinarySearchFunc(piles, p[1], func(top, j int) int { return pairs[top][1] - j })
		previous[k] = -1
		if at > 0 {
			previous[k] = piles[at-1]
		}
		if at == len(piles) {
			piles = append(piles, k)
		} else {
			piles[at] = k
		}
	}
	if len(piles) == 0 {
		return nil
	}
	chain := make([][2]int, len(piles))
	for k, at := piles[len(piles)-1], len(piles)-1; at >= 0; at-- {
		chain[at] = pairs[k]
		k = previous[k]
	}
	return chain
}

// matchFully runs Myers' algorithm over the tokens that occur on both sides. It numbers these tokens, because there are
// fewer runes than tokens in a long text.
func (m *Matcher) matchFully(a, b []int, base int, match []int) {
	n := 0
	for _, i := range m.ai {
		if m.numbers[a[i]] == 0 {
			n++
			m.numbers[a[i]] = n
		}
	}
	asRunes := func(tokens, indices []int) (out []rune) {
		for _, i := range indices {
			out = append(out, asRune(m.numbers[tokens[i]]))
		}
		return out
	}
	differ := diffmatchpatch.DiffMatchPatch{} // its zero DiffTimeout disables the clock
	i, j := 0, 0
	for _, d := range differ.DiffMainRunes(asRunes(a, m.ai), asRunes(b, m.bi), false) {
		n := utf8.RuneCountInString(d.Text)
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			for k := range n {
				match[m.ai[i+k]] = base + m.bi[j+k]
			}
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			i += n
		case diffmatchpatch.DiffInsert:
			j += n
		}
	}
	for _, i := range m.ai {
		m.numbers[a[i]] = 0
	}
}

// asRune encodes a number from 1 as a rune that survives a conversion to string and back. It skips surrogates and
// U+FFFD, because the conversion replaces them.
func asRune(n int) rune {
	r := rune(n)
	if r >= 0xD800 {
		r += 0x800
	}
	if r >= utf8.RuneError {
		r++
	}
	return r
}

// Slide normalizes an insertion or deletion that could be at several places ("a new a" after "a"): it moves the change
// as far down as possible. So unchanged text comes first, and the same change always looks the same.
func (m *Matcher) Slide(a, b, match []int) {
	m.back = slices.Grow(m.back[:0], len(b))
	for range b {
		m.back = append(m.back, -1)
	}
	for i, j := range match {
		if j >= 0 {
			m.back[j] = i
		}
	}
	slideSide(a, match, m.back)
	slideSide(b, m.back, match)
}

// slideSide moves the unmatched runs of one sequence down. own[i] is the partner of tokens[i]; other is the inverse of
// own.
func slideSide(tokens, own, other []int) {
	for i := 0; i < len(tokens); {
		if own[i] >= 0 {
			i++
			continue
		}
		facing, end := 0, i // facing is the token of the other side that follows the partner of the token before the run
		if i > 0 {
			facing = own[i-1] + 1
		}
		for end < len(tokens) && own[end] < 0 {
			end++
		}
		for end < len(tokens) && tokens[i] == tokens[end] && own[end] == facing { // the other side has no unmatched token here
			facing++
			own[i], own[end] = own[end], -1
			other[own[i]] = i
			i++
			end++
			for end < len(tokens) && own[end] < 0 {
				end++
			}
		}
		i = end
	}
}

func Prefix(a, b string) int {
	const block = 256
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[i:i+block] == b[i:i+block] {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func Suffix(a, b string) int {
	const block = 256
	n := min(len(a), len(b))
	i := 0
	for i+block <= n && a[len(a)-i-block:len(a)-i] == b[len(b)-i-block:len(b)-i] {
		i += block
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}
