package grep

import (
	"slices"
)

// A Signature is a Bloom filter of the trigrams of one folded text. It needs at most about 3/8 of the memory of the
// text. It excludes texts that lack the trigrams that a pattern requires; about one in twenty missing trigrams is not
// detected. Unlike an entry of a trigram index, it can be dropped at once when its text changes.

const (
	// bitsPer is the number of bits per distinct trigram. Two bits are set for each trigram, so about one in twenty
	// missing trigrams is not detected.
	bitsPer = 8
	// maxBitsPerByte is the maximum number of bits of a signature per byte of text. Only texts with few repetitions
	// reach this maximum.
	maxBitsPerByte = 3
)

// Signature is immutable. Nil and the zero value stand for a text whose trigrams were not computed.
type Signature struct {
	bits  []uint64
	known bool
}

func (s *Signature) Known() bool { return s != nil && s.known }

// SignatureMaker makes one signature at a time, and reuses its memory for the next.
type SignatureMaker struct {
	seen   []uint64 // has a bit for each of the 2^24 trigrams
	list   []uint32 // the trigrams whose bits are set in seen
	folded []byte
}

func (m *SignatureMaker) Make(text string) *Signature {
	if m.seen == nil {
		m.seen = make([]uint64, 1<<24/64)
	}
	m.list, m.folded = m.list[:0], appendFold(m.folded[:0], text)
	var t uint32
	for i, c := range m.folded {
		t = t<<8&0xffffff | uint32(c)
		if i >= 2 && m.seen[t/64]&(1<<(t%64)) == 0 {
			m.seen[t/64] |= 1 << (t % 64)
			m.list = append(m.list, t)
		}
	}
	bits := min(len(m.list)*bitsPer, len(text)*maxBitsPerByte)
	s := &Signature{bits: make([]uint64, (bits+63)/64), known: true}
	for _, t := range m.list {
		m.seen[t/64] = 0
		a, b := s.places(hash(t))
		s.bits[a/64] |= 1 << (a % 64)
		s.bits[b/64] |= 1 << (b % 64)
	}
	return s
}

// hash is the part of the places of a trigram that does not depend on a signature.
func hash(t uint32) uint64 {
	h := uint64(t) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h ^= h >> 29
	return h * 0xbf58476d1ce4e5b9
}

func (s *Signature) places(hash uint64) (a, b uint64) {
	n := uint64(len(s.bits)) * 64
	return hash >> 32 * n >> 32, hash & 0xffffffff * n >> 32
}

// hasAll moves the trigram that s lacks to the front, because other texts often lack it too.
func (s *Signature) hasAll(trigrams []uint64) bool {
	for i, t := range trigrams {
		if a, b := s.places(t); len(s.bits) == 0 || s.bits[a/64]&(1<<(a%64)) == 0 || s.bits[b/64]&(1<<(b%64)) == 0 {
			trigrams[0], trigrams[i] = t, trigrams[0]
			return false
		}
	}
	return true
}

// TrigramQuery may be used by one goroutine at a time.
type TrigramQuery struct{ clauses [][][]uint64 } // hashes of trigrams

// NewTrigramQuery returns the query for clauses. It omits clauses that have a literal of less than three bytes, which
// contains no trigram.
func NewTrigramQuery(clauses []Clause) TrigramQuery {
	var q TrigramQuery
	for _, c := range clauses {
		var literals [][]uint64
		for _, literal := range c {
			var trigrams []uint64
			for s := Fold(literal); len(s) > 2; s = s[1:] {
				trigrams = append(trigrams, hash(uint32(s[0])<<16|uint32(s[1])<<8|uint32(s[2])))
			}
			literals = append(literals, trigrams)
		}
		if !slices.ContainsFunc(literals, func(t []uint64) bool { return t == nil }) {
			q.clauses = append(q.clauses, literals)
		}
	}
	return q
}

// MayMatch reports whether the text of s may match. If it returns false, the text certainly does not match.
func (q TrigramQuery) MayMatch(s *Signature) bool {
	for _, literals := range q.clauses {
		if !slices.ContainsFunc(literals, func(t []uint64) bool { return s.hasAll(t) }) { // s.hasAll would be allocated
			return false
		}
	}
	return true
}
