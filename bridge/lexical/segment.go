package lexical

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync"
)

// segment is an inverted index of some documents.
type segment struct {
	docs    []doc
	gone    int   // how many of them; as for doc.gone
	terms   table // sorted
	posting table // of each term: the documents that have it

	suffixes func() []uint32 // the terms, sorted by their bytes from the last to the first
}

type doc struct {
	key    string
	length uint32 // terms of the body
	gone   bool   // only the writer of the Index changes it, under its lock
}

// table is a list of byte strings in one array.
type table struct {
	data []byte
	ends []uint32
}

func (t *table) at(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.data[start:t.ends[i]]
}

func (t *table) add(b []byte) {
	t.data = append(t.data, b...)
	t.ends = append(t.ends, uint32(len(t.data)))
}

func (t *table) clip() { t.data, t.ends = slices.Clip(t.data), slices.Clip(t.ends) }

// find returns the first index whose string is not less than s.
func (t *table) find(s string) int {
	return sort.Search(len(t.ends), func(i int) bool { return string(t.at(i)) >= s })
}

// posting says how often a document has a term.
type posting struct {
	doc   uint32
	count uint8 // in the body, at most maxCount
	in    field // of the others
}

// field is a set of the fields of a document beside its body.
type field uint8

const (
	inProperties field = 1 << iota
	inTags
	inHeadings
	inTitle
)

// maxCount is what a posting has room for. The score of a term hardly grows beyond.
const maxCount = 15

// postings iterates over an encoded list: a number of documents, and for each of them twice the distance
// from the one before. If that is odd, a byte of fields and count follows; else the document has the
// term once, in the body.
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

// newSegment returns the segment of docs with the postings of each term.
func newSegment(docs []doc, lists map[string][]posting) *segment {
	s := &segment{docs: docs}
	var data []byte
	terms := make([]string, 0, len(lists))
	for term := range lists {
		terms = append(terms, term)
	}
	slices.Sort(terms)
	for _, term := range terms {
		data = appendPostings(data[:0], lists[term])
		s.terms.add([]byte(term))
		s.posting.add(data)
	}
	return s.closed()
}

func (s *segment) closed() *segment {
	s.terms.clip()
	s.posting.clip()
	s.suffixes = sync.OnceValue(s.sortBySuffix)
	return s
}

func (s *segment) sortBySuffix() []uint32 {
	order := make([]uint32, len(s.terms.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return compareBackwards(s.terms.at(int(i)), s.terms.at(int(j))) })
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

// merged returns one segment of two, without the documents that are gone.
func merged(a, b *segment) *segment {
	s := new(segment)
	places := [2][]uint32{s.take(a), s.take(b)}
	var data []byte
	var list []posting
	add := func(from int, data []byte) {
		postings(data, func(p posting) {
			if to := places[from][p.doc]; to != nowhere {
				list = append(list, posting{to, p.count, p.in})
			}
		})
	}
	for i, j := 0, 0; i < len(a.terms.ends) || j < len(b.terms.ends); {
		order := 0
		switch {
		case i == len(a.terms.ends):
			order = 1
		case j == len(b.terms.ends):
			order = -1
		default:
			order = bytes.Compare(a.terms.at(i), b.terms.at(j))
		}
		var term []byte
		list = list[:0]
		if order <= 0 {
			term = a.terms.at(i)
			add(0, a.posting.at(i))
			i++
		}
		if order >= 0 {
			term = b.terms.at(j)
			add(1, b.posting.at(j))
			j++
		}
		if len(list) > 0 {
			data = appendPostings(data[:0], list)
			s.terms.add(term)
			s.posting.add(data)
		}
	}
	return s.closed()
}

const nowhere = ^uint32(0)

// take adds the documents of another segment that are not gone, and returns their new places.
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

// exact returns the index of a term, or -1.
func (s *segment) exact(term string) int {
	if i := s.terms.find(term); i < len(s.terms.ends) && string(s.terms.at(i)) == term {
		return i
	}
	return -1
}

// beginning calls fn with the terms that begin with a prefix, at most limit.
func (s *segment) beginning(prefix string, limit int, fn func(term string)) {
	for i := s.terms.find(prefix); i < len(s.terms.ends) && limit > 0; i, limit = i+1, limit-1 {
		term := string(s.terms.at(i))
		if !strings.HasPrefix(term, prefix) {
			return
		}
		fn(term)
	}
}

// ending calls fn with the terms that end with a suffix, at most limit.
func (s *segment) ending(suffix string, limit int, fn func(term string)) {
	order := s.suffixes()
	i := sort.Search(len(order), func(i int) bool { return compareBackwards(s.terms.at(int(order[i])), suffix) >= 0 })
	for ; i < len(order) && limit > 0; i, limit = i+1, limit-1 {
		term := string(s.terms.at(int(order[i])))
		if !strings.HasSuffix(term, suffix) {
			return
		}
		fn(term)
	}
}
