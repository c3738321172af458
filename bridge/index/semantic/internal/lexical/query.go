package lexical

import (
	"slices"
	"unicode/utf8"
)

type Query struct {
	words  []*queryWord
	full   float32 // approximate score of a document that has all words
	stem   *Stemmer
	begins [1 << 10]bool // by the hash that beginning returns; set if a term of the query may have the hash
}

type queryWord struct {
	Asked
	weights map[string]float32 // weight of each matching term
	known   bool               // the word occurs in a document
}

// These are limits and weights of a word's inexact matches: terms that contain the word, terms that differ from it by
// one edit, and terms with a similar beginning. Terms with fewer than minPart characters are part of too many words.
const (
	minPart      = 4
	maxExpanded  = 24
	weightPart   = 0.5
	weightNear   = 0.6
	weightBegun  = 0.2
	rareIsAtMost = 1 // number of documents up to which a word may be a typing error
)

func (x *Index) Query(text string) *Query {
	x.mu.RLock()
	defer x.mu.RUnlock()
	q := &Query{stem: &x.stem}
	for _, asked := range x.stem.Asked(text, x.languages()) {
		if slices.ContainsFunc(q.words, func(w *queryWord) bool { return w.Variants[0] == asked.Variants[0] }) {
			continue
		}
		w := &queryWord{Asked: asked, weights: make(map[string]float32)}
		x.expand(w)
		q.words = append(q.words, w)
	}
	if !slices.ContainsFunc(q.words, func(w *queryWord) bool { return len(w.weights) > 0 }) {
		x.guess(q.words)
	}
	for _, w := range q.words {
		own := float32(0)
		for _, term := range w.Variants {
			own = max(own, w.weights[term])
		}
		if !w.known {
			own = x.idf(0)
		}
		q.full += own
		for term := range w.weights {
			q.begins[beginning(term)] = true
		}
	}
	return q
}

// languages returns the languages of the documents. The caller must hold mu.
func (x *Index) languages() []Language {
	var list []Language
	for l := range Languages {
		if x.written[l] > 0 {
			list = append(list, l)
		}
	}
	return list
}

// expand sets the weights of w. The caller must hold mu.
func (x *Index) expand(w *queryWord) {
	most := 0
	for _, term := range w.Variants {
		if n := x.documents(term); n > 0 {
			w.weights[term], w.known = x.idf(n), true
			most = max(most, n)
		}
	}
	limit := x.idf(max(most, 1)) // a similar term must not count more than the word itself
	add := func(term string, weight float32) {
		if n := x.documents(term); n > 0 {
			w.weights[term] = max(w.weights[term], weight*min(limit, x.idf(n)))
		}
	}
	for _, term := range w.Variants {
		length := utf8.RuneCountInString(term)
		if length < minPart {
			continue
		}
		part := func(other string) { add(other, weightPart) }
		x.beginning(term, maxExpanded, part)
		x.ending(term, maxExpanded, part)
		if most <= rareIsAtMost {
			x.near(term, func(other string) { add(other, weightNear) })
			x.parts(term, part)
		}
	}
}

func (x *Index) parts(term string, fn func(string)) {
	runes := []rune(term)
	for i := minPart; i <= len(runes)-minPart; i++ {
		for _, part := range []string{string(runes[:i]), string(runes[i:])} {
			fn(part)
			for _, l := range x.languages() {
				x.stem.Each(part, l, fn)
			}
		}
	}
}

// near calls fn with the terms that differ from term by one edit: a character added, removed or replaced, or two
// neighbours swapped. Such terms share their first or their last half with term.
func (x *Index) near(term string, fn func(string)) {
	runes := []rune(term)
	half := len(runes) / 2
	take := func(other string) {
		if oneEdit(runes, []rune(other)) {
			fn(other)
		}
	}
	const enough = 1 << 12
	x.beginning(string(runes[:half]), enough, take)
	x.ending(string(runes[len(runes)-half:]), enough, take)
}

func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return slices.Equal(a[i:], b[i+1:])
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
	return i < len(a) && (swapped || slices.Equal(a[i+1:], b[i+1:]))
}

func (q *Query) Unknown() []string {
	var list []string
	for _, w := range q.words {
		if !w.known {
			list = append(list, w.Word)
		}
	}
	return list
}

func (q *Query) Words() []string {
	var list []string
	for _, w := range q.words {
		list = append(list, w.Word)
	}
	return list
}

func beginning(word string) int {
	if len(word) < 2 {
		return 0
	}
	return int(word[0]&0x1f)<<5 | int(word[1]&0x1f)
}

// mayHave reports whether a word may have a term of the query as its stem. A stem begins with the same characters as
// its word, without accents.
func (q *Query) mayHave(word string) bool {
	return len(word) < 2 || word[0] >= utf8.RuneSelf || word[1] >= utf8.RuneSelf || q.begins[beginning(word)]
}

// Weights returns the weight of each word of the query in a part of a document.
func (q *Query) Weights(text string, in Language) []float32 {
	best := make([]float32, len(q.words))
	q.stem.EachOf(text, in, q.mayHave, func(term string) {
		for i, w := range q.words {
			best[i] = max(best[i], w.weights[term])
		}
	})
	return best
}

// guess lets words that occur in no document match terms with a similar beginning. The caller must hold mu.
func (x *Index) guess(words []*queryWord) {
	for _, w := range words {
		for _, term := range x.similar(w.Variants[0], maxExpanded) {
			w.weights[term] = weightBegun * x.idf(x.documents(term))
		}
	}
}

const minBegun = 3

// similar returns terms of the documents, at most limit of them: those that share the longest beginning with word. The
// caller must hold mu.
func (x *Index) similar(word string, limit int) []string {
	runes := []rune(word)
	for n := len(runes) - 1; n >= minBegun; n-- {
		var list []string
		x.beginning(string(runes[:n]), limit, func(term string) { list = append(list, term) })
		if list != nil {
			return list
		}
	}
	return nil
}
