package lexical

import (
	"cmp"
	"math"
	"slices"
	"strings"
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

	mu      sync.RWMutex      // guards the fields below
	docs    []doc             // in the order of their arrival, with the removed documents
	where   map[string]uint32 // index in docs of each document that is not removed
	terms   []term            // in the order of their arrival
	sorted  []uint32          // indexes of terms, in the order of their texts
	endings []uint32          // indexes of terms, in the order of their texts read backwards
	length  uint64            // total length of the bodies of the documents that are not removed, in terms
	written [Languages]int    // number of documents added so far, by language
}

type doc struct {
	key    string
	length uint32 // number of terms of the body
	gone   bool   // the document is removed
}

func New() *Index { return &Index{where: make(map[string]uint32)} }

const batch = 256

// Apply adds docs, replacing documents with the same keys, and removes the documents with the keys in deleted.
func (x *Index) Apply(docs []Document, deleted []string) {
	x.mu.Lock()
	for _, key := range deleted {
		x.forget(key)
	}
	x.compact()
	x.mu.Unlock()
	for part := range slices.Chunk(docs, batch) {
		x.add(part)
	}
}

func (x *Index) add(docs []Document) {
	parts := make([]docTerms, len(docs))
	for i := range docs {
		parts[i] = x.termsOf(&docs[i]) // takes most of the time, so queries must not wait for it
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	lists, known := make(map[string][]posting), len(x.terms)
	for i, f := range parts {
		x.forget(docs[i].Key)
		at := uint32(len(x.docs))
		x.docs = append(x.docs, doc{key: docs[i].Key, length: f.length})
		x.where[docs[i].Key] = at
		x.length += uint64(f.length)
		x.written[f.in]++
		for text, p := range f.terms {
			p.doc = at
			lists[text] = append(lists[text], p)
		}
	}
	for text, list := range lists {
		if place, ok := x.find(text); ok {
			x.terms[place] = x.terms[place].with(list)
		} else {
			x.terms = append(x.terms, newTerm(text).with(list))
		}
	}
	x.sort(known)
	x.compact()
}

// find returns the index of a term that is sorted. The caller must hold mu.
func (x *Index) find(text string) (place uint32, ok bool) {
	i, ok := x.search(x.sorted, text, strings.Compare)
	if ok {
		place = x.sorted[i]
	}
	return place, ok
}

func (x *Index) search(sorted []uint32, text string, compare func(a, b string) int) (int, bool) {
	return slices.BinarySearchFunc(sorted, text, func(place uint32, text string) int { return compare(x.terms[place].text(), text) })
}

// sort adds the terms from an index on to the sorted indexes. The caller must hold mu.
func (x *Index) sort(from int) {
	if from < len(x.terms) {
		x.sorted = x.merged(x.sorted, from, strings.Compare)
		x.endings = x.merged(x.endings, from, compareBackwards)
	}
}

func (x *Index) merged(sorted []uint32, from int, compare func(a, b string) int) []uint32 {
	fresh := make([]uint32, len(x.terms)-from)
	for i := range fresh {
		fresh[i] = uint32(from + i)
	}
	slices.SortFunc(fresh, func(a, b uint32) int { return compare(x.terms[a].text(), x.terms[b].text()) })
	all := make([]uint32, 0, len(x.terms))
	for _, place := range fresh {
		n, _ := x.search(sorted, x.terms[place].text(), compare)
		all = append(append(all, sorted[:n]...), place)
		sorted = sorted[n:]
	}
	return append(all, sorted...)
}

// forget marks a document as removed. The caller must hold mu.
func (x *Index) forget(key string) {
	at, there := x.where[key]
	if !there {
		return
	}
	x.docs[at].gone = true
	x.length -= uint64(x.docs[at].length)
	delete(x.where, key)
}

const nowhere = ^uint32(0)

// compact drops the removed documents once they are the majority. The caller must hold mu.
func (x *Index) compact() {
	if len(x.docs) <= 2*len(x.where) {
		return
	}
	places := make([]uint32, len(x.docs)) // new places of the documents
	var docs []doc
	for i, d := range x.docs {
		places[i] = nowhere
		if !d.gone {
			places[i], x.where[d.key] = uint32(len(docs)), uint32(len(docs))
			docs = append(docs, d)
		}
	}
	x.docs = docs
	terms := x.terms
	x.terms, x.sorted, x.endings = nil, nil, nil
	for _, t := range terms {
		var kept []posting
		t.each(func(p posting) {
			if p.doc = places[p.doc]; p.doc != nowhere {
				kept = append(kept, p)
			}
		})
		if kept != nil {
			x.terms = append(x.terms, newTerm(t.text()).with(kept))
		}
	}
	x.sort(0)
}

type docTerms struct {
	in     Language
	length uint32             // number of terms of the body
	terms  map[string]posting // without the document's place
}

func (x *Index) termsOf(d *Document) docTerms {
	f := docTerms{in: LanguageOf(d.Body), terms: make(map[string]posting)}
	x.stem.Each(d.Body, f.in, func(term string) {
		f.length++
		p := f.terms[term]
		p.count = min(p.count+1, maxCount)
		f.terms[term] = p
	})
	for in, text := range map[field]string{inTitle: d.Title, inHeadings: d.Headings, inTags: d.Tags, inProperties: d.Properties} {
		x.stem.Each(text, f.in, func(term string) {
			p := f.terms[term]
			p.in |= in
			f.terms[term] = p
		})
	}
	return f
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
	for i, score := range x.scores(q, average) {
		if d := &x.docs[i]; score > 0 && !d.gone && (len(hits) < limit || float64(score) > hits[len(hits)-1].Score) && (keep == nil || keep(d.key)) {
			hits = insert(hits, Hit{d.key, float64(score), float64(min(score/q.full, 1))}, limit)
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

// scores returns the score of each document in docs. The caller must hold mu.
func (x *Index) scores(q *Query, average float32) []float32 {
	scores, best := make([]float32, len(x.docs)), make([]float32, len(x.docs))
	for _, word := range q.words {
		clear(best)
		for term, weight := range word.weights {
			place, ok := x.find(term)
			if !ok { // dropped since the query was made
				continue
			}
			x.terms[place].each(func(p posting) {
				tf := float32(p.count)/(1-b+b*float32(x.docs[p.doc].length)/average) + weights[p.in]
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
func (x *Index) documents(text string) int {
	place, ok := x.find(text)
	if !ok {
		return 0
	}
	return x.documentsOf(x.terms[place])
}

func (x *Index) documentsOf(t term) (n int) {
	if len(x.docs) == len(x.where) {
		documents, _, _ := t.parse()
		return int(documents)
	}
	t.each(func(p posting) {
		if !x.docs[p.doc].gone {
			n++
		}
	})
	return n
}

// beginning calls fn with terms of the documents that begin with prefix, at most limit of them. The caller must hold mu.
func (x *Index) beginning(prefix string, limit int, fn func(term string)) {
	i, _ := x.search(x.sorted, prefix, strings.Compare)
	x.each(x.sorted[i:], limit, func(term string) bool { return strings.HasPrefix(term, prefix) }, fn)
}

// ending is like beginning, for the terms that end with suffix.
func (x *Index) ending(suffix string, limit int, fn func(term string)) {
	i, _ := x.search(x.endings, suffix, compareBackwards)
	x.each(x.endings[i:], limit, func(term string) bool { return strings.HasSuffix(term, suffix) }, fn)
}

func (x *Index) each(sorted []uint32, limit int, match func(string) bool, fn func(term string)) {
	for _, place := range sorted {
		t := x.terms[place]
		if limit == 0 || !match(t.text()) {
			return
		}
		if x.documentsOf(t) > 0 {
			fn(t.text())
			limit--
		}
	}
}

func compareBackwards(a, b string) int {
	for i, j := len(a)-1, len(b)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
	}
	return cmp.Compare(len(a), len(b))
}
