package lexical

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

type Document struct {
	Key                               string
	Title, Headings, Tags, Properties string
	Body                              string
}

// These are the parameters of BM25F: how soon further occurrences of a term stop counting, how much a long body reduces
// the score, and the weights of the other fields, whose length does not matter.
const (
	k1 = 1.2
	b  = 0.75

	weightTitle      = 2.5
	weightHeadings   = 1.0 // in addition to the body, which also contains the headings
	weightTags       = 1.5
	weightProperties = 0.7
)

type Index struct {
	stem Stemmer

	mu       sync.RWMutex // guards the fields below
	segments []*segment
	where    map[string]place // place of each document that is not removed
	length   uint64           // total length of the bodies of these documents, in terms
	written  [Languages]int   // number of documents added so far, by language
}

type place struct {
	segment *segment
	doc     uint32
}

func New() *Index { return &Index{where: make(map[string]place)} }

const batch = 256

// Apply adds docs, replacing documents with the same keys, and removes the documents with the keys in deleted.
func (x *Index) Apply(docs []Document, deleted []string) {
	x.mu.Lock()
	for _, key := range deleted {
		x.forget(key)
	}
	x.mu.Unlock()
	for part := range slices.Chunk(docs, batch) {
		x.add(part)
	}
}

func (x *Index) add(docs []Document) {
	s, written := x.segmentOf(docs)
	x.mu.Lock()
	for l, n := range written {
		x.written[l] += n
	}
	for i, d := range s.docs {
		x.forget(d.key)
		x.where[d.key] = place{s, uint32(i)}
		x.length += uint64(d.length)
	}
	x.segments = append(x.segments, s)
	segments := slices.Clone(x.segments)
	x.mu.Unlock()
	x.compact(segments)
}

// forget marks a document as removed. The caller must hold mu.
func (x *Index) forget(key string) {
	at, there := x.where[key]
	if !there {
		return
	}
	d := &at.segment.docs[at.doc]
	d.gone = true
	at.segment.gone++
	x.length -= uint64(d.length)
	delete(x.where, key)
}

// compact merges a segment with the next one if the segment is at most twice as long as the next one. It rewrites
// segments in which most documents are removed.
func (x *Index) compact(segments []*segment) {
	for i := len(segments) - 1; i >= 0; i-- {
		s := segments[i]
		switch {
		case i+1 < len(segments) && s.live() <= 2*segments[i+1].live():
			s = merged(s, segments[i+1])
			segments = slices.Delete(slices.Clone(segments), i+1, i+2)
		case len(s.docs) > 2*s.live():
			s = merged(s, new(segment))
		default:
			continue
		}
		segments = slices.Clone(segments)
		segments[i] = s
		x.mu.Lock()
		x.segments = segments
		for i, d := range s.docs {
			x.where[d.key] = place{s, uint32(i)}
		}
		x.mu.Unlock()
		i = len(segments) // start again, because the segments before may now be short compared with the new one
	}
}

func (s *segment) live() int { return len(s.docs) - s.gone }

// segmentOf returns the segment of docs, and the number of documents in each language.
func (x *Index) segmentOf(docs []Document) (s *segment, written [Languages]int) {
	lists := make(map[string][]posting)
	out := make([]doc, len(docs))
	for i, d := range docs {
		in := LanguageOf(d.Body)
		written[in]++
		at := func(term string) *posting {
			list := lists[term]
			if len(list) == 0 || list[len(list)-1].doc != uint32(i) {
				list = append(list, posting{doc: uint32(i)})
				lists[term] = list
			}
			return &list[len(list)-1]
		}
		length := 0
		x.stem.Each(d.Body, in, func(term string) {
			length++
			p := at(term)
			p.count = min(p.count+1, maxCount)
		})
		for f, text := range map[field]string{inTitle: d.Title, inHeadings: d.Headings, inTags: d.Tags, inProperties: d.Properties} {
			x.stem.Each(text, in, func(term string) { at(term).in |= f })
		}
		out[i] = doc{key: d.Key, length: uint32(length)}
	}
	return newSegment(out, lists), written
}

type Hit struct {
	Key   string
	Score float64 // greater than 0
	// Part estimates the share of the query that the document covers, by the weights of the words. It is between 0 and
	// 1.
	Part float64
}

// Search returns the documents that match a query best, at most limit of them, best first. keep selects documents; nil
// selects all.
func (x *Index) Search(q *Query, keep func(key string) bool, limit int) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var hits []Hit
	average := max(float32(x.length)/float32(max(len(x.where), 1)), 1)
	for _, s := range x.segments {
		scores := s.score(q, average)
		for i, score := range scores {
			if d := &s.docs[i]; score > 0 && !d.gone && (len(hits) < limit || float64(score) > hits[len(hits)-1].Score) && (keep == nil || keep(d.key)) {
				hits = insert(hits, Hit{d.key, float64(score), float64(min(score/q.full, 1))}, limit)
			}
		}
	}
	return hits
}

func insert(hits []Hit, h Hit, limit int) []Hit {
	i, _ := slices.BinarySearchFunc(hits, h, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	if len(hits) == limit {
		hits = hits[:limit-1]
	}
	return slices.Insert(hits, min(i, len(hits)), h)
}

func (s *segment) score(q *Query, average float32) []float32 {
	scores, best := make([]float32, len(s.docs)), make([]float32, len(s.docs))
	for _, word := range q.words {
		clear(best)
		for term, weight := range word.weights {
			i := s.exact(term)
			if i < 0 {
				continue
			}
			postings(s.postings(i), func(p posting) {
				tf := float32(p.count)/(1-b+b*float32(s.docs[p.doc].length)/average) + weights[p.in]
				best[p.doc] = max(best[p.doc], weight*tf*(k1+1)/(k1+tf))
			})
		}
		for i, score := range best {
			scores[i] += score
		}
	}
	return scores
}

var weights = func() (w [16]float32) {
	for f := range w {
		for bit, weight := range []float32{weightProperties, weightTags, weightHeadings, weightTitle} {
			if f&(1<<bit) != 0 {
				w[f] += weight
			}
		}
	}
	return w
}()

// idf returns the weight of a term that occurs in the given number of documents. The caller must hold mu.
func (x *Index) idf(documents int) float32 {
	n, df := float64(len(x.where)), float64(documents)
	return float32(math.Log(1 + (n-df+0.5)/(df+0.5)))
}

// documents returns the number of documents with a term. The caller must hold mu.
func (x *Index) documents(term string) int {
	sum := 0
	for _, s := range x.segments {
		i := s.exact(term)
		switch {
		case i < 0:
		case s.gone == 0:
			n, _ := binary.Uvarint(s.postings(i))
			sum += int(n)
		default:
			postings(s.postings(i), func(p posting) {
				if !s.docs[p.doc].gone {
					sum++
				}
			})
		}
	}
	return sum
}
