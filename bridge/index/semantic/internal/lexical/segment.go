package lexical

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
)

// segment is an inverted index of some documents: sorted terms, each with its documents.
type segment struct {
	docs []doc
	gone int // number of removed documents; see doc.gone

	// data has the entries of the terms one after the other: the length of the term, the term, and its postings.
	data []byte
	ends []uint32 // ends of the entries in data

	suffixes func() []uint32 // indexes of the terms, sorted by their bytes from the last to the first
}

type doc struct {
	key    string
	length uint32 // number of terms of the body
	gone   bool   // the document is removed; set only by the writer of the Index, under its lock
}

func (s *segment) entry(i int) (term, list []byte) {
	start := uint32(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	e := s.data[start:s.ends[i]]
	n, size := binary.Uvarint(e)
	e = e[size:]
	return e[:n], e[n:]
}

func (s *segment) term(i int) []byte {
	term, _ := s.entry(i)
	return term
}

func (s *segment) postings(i int) []byte {
	_, list := s.entry(i)
	return list
}

func (s *segment) add(term []byte, list []posting) {
	s.data = append(binary.AppendUvarint(s.data, uint64(len(term))), term...)
	s.data = appendPostings(s.data, list)
	s.ends = append(s.ends, uint32(len(s.data)))
}

func (s *segment) find(term string) int {
	return sort.Search(len(s.ends), func(i int) bool { return string(s.term(i)) >= term })
}

type posting struct {
	doc   uint32
	count uint8 // number of occurrences in the body, at most maxCount
	in    field // the other fields that have the term
}

type field uint8

const (
	inProperties field = 1 << iota
	inTags
	inHeadings
	inTitle
)

// maxCount is the largest count of a posting. More occurrences hardly raise the score of a term.
const maxCount = 15

// postings iterates over an encoded list. The list has the number of documents, and for each of them twice the distance
// to the previous one, plus one if a byte of fields and count follows. Without that byte, the document has the term
// once, in the body.
func postings(data []byte, fn func(posting)) {
	n, size := binary.Uvarint(data)
	data = data[size:]
	at := uint32(0)
	for range n {
		delta := uint64(data[0])
		size := 1
		if delta >= 0x80 {
			delta, size = binary.Uvarint(data)
		}
		at += uint32(delta / 2)
		p := posting{at, 1, 0}
		if delta%2 == 1 {
			p.count, p.in = data[size]&maxCount, field(data[size]>>4)
			size++
		}
		fn(p)
		data = data[size:]
	}
}

func appendPostings(data []byte, list []posting) []byte {
	data = binary.AppendUvarint(data, uint64(len(list)))
	last := uint32(0)
	for _, p := range list {
		if delta := 2 * uint64(p.doc-last); p.count == 1 && p.in == 0 {
			data = binary.AppendUvarint(data, delta)
		} else {
			data = append(binary.AppendUvarint(data, delta+1), p.count|uint8(p.in)<<4)
		}
		last = p.doc
	}
	return data
}

func newSegment(docs []doc, lists map[string][]posting) *segment {
	s := &segment{docs: docs}
	for _, term := range slices.Sorted(maps.Keys(lists)) {
		s.add([]byte(term), lists[term])
	}
	return s.closed()
}

// closed releases the spare capacity of the segment. It copies the arrays, because slices.Clip alone would not free the
// memory.
func (s *segment) closed() *segment {
	s.docs, s.data, s.ends = slices.Clone(s.docs), slices.Clone(s.data), slices.Clone(s.ends)
	s.suffixes = sync.OnceValue(s.sortBySuffix)
	return s
}

func (s *segment) sortBySuffix() []uint32 {
	order := make([]uint32, len(s.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return compareBackwards(s.term(int(i)), s.term(int(j))) })
	return order
}

func compareBackwards[A, B string | []byte](a A, b B) int {
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func merged(a, b *segment) *segment {
	s := new(segment)
	places := [2][]uint32{s.take(a), s.take(b)}
	var list []posting
	add := func(from int, data []byte) {
		postings(data, func(p posting) {
			if to := places[from][p.doc]; to != nowhere {
				list = append(list, posting{to, p.count, p.in})
			}
		})
	}
	for i, j := 0, 0; i < len(a.ends) || j < len(b.ends); {
		order := 0
		switch {
		case i == len(a.ends):
			order = 1
		case j == len(b.ends):
			order = -1
		default:
			order = bytes.Compare(a.term(i), b.term(j))
		}
		var term []byte
		list = list[:0]
		if order <= 0 {
			term = a.term(i)
			add(0, a.postings(i))
			i++
		}
		if order >= 0 {
			term = b.term(j)
			add(1, b.postings(j))
			j++
		}
		if len(list) > 0 {
			s.add(term, list)
		}
	}
	return s.closed()
}

const nowhere = ^uint32(0)

// take adds those documents of another segment that are not removed, and returns their new places.
func (s *segment) take(from *segment) []uint32 {
	places := make([]uint32, len(from.docs))
	for i, d := range from.docs {
		places[i] = nowhere
		if !d.gone {
			places[i] = uint32(len(s.docs))
			s.docs = append(s.docs, d)
		}
	}
	return places
}

func (s *segment) exact(term string) int {
	if i := s.find(term); i < len(s.ends) && string(s.term(i)) == term {
		return i
	}
	return -1
}

func (s *segment) beginning(prefix string, limit int, fn func(term string)) {
	for i := s.find(prefix); i < len(s.ends) && limit > 0; i, limit = i+1, limit-1 {
		term := string(s.term(i))
		if !strings.HasPrefix(term, prefix) {
			return
		}
		fn(term)
	}
}

func (s *segment) ending(suffix string, limit int, fn func(term string)) {
	order := s.suffixes()
	i := sort.Search(len(order), func(i int) bool { return compareBackwards(s.term(int(order[i])), suffix) >= 0 })
	for ; i < len(order) && limit > 0; i, limit = i+1, limit-1 {
		term := string(s.term(int(order[i])))
		if !strings.HasSuffix(term, suffix) {
			return
		}
		fn(term)
	}
}
