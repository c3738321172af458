package semantic

import (
	"context"
	"math"
	"sort"
	"strconv"
	"sync"
)

// Bounds of a model.
const (
	minDimensions = 30
	maxDimensions = 128
	maxTerms      = 30_000 // of the vocabulary
	maxTraining   = 20_000 // passages that a model is made of
)

// lsa is a model made of the notes themselves: latent semantic analysis.
type lsa struct {
	Terms map[string]int32 // to rows of Basis
	IDF   []float32
	Basis []float32 // row by row
	Dims  int
	Seal  string // names the model
	Made  int    // of so many passages

	mu   sync.Mutex // protects the following
	stem stemmer
}

// fitLSA makes a model of passages. stop ends it early, with nil.
func fitLSA(passages []string, seal string, stop func() bool) *lsa {
	m := &lsa{Seal: seal, Made: len(passages), stem: make(stemmer)}
	counts := m.count(sample(passages, maxTraining), stop)
	if counts == nil {
		return nil
	}
	m.choose(counts)
	matrix := &sparse{columns: len(m.IDF)}
	for _, c := range counts {
		if r := m.weigh(c); len(r) > 0 {
			matrix.rows = append(matrix.rows, r)
		}
	}
	if len(matrix.rows) == 0 || stop() {
		return m
	}
	basis := matrix.rightVectors(dimensions(len(matrix.rows)), stop)
	if basis == nil {
		return nil
	}
	rows, dims := basis.Dims()
	m.Dims, m.Basis = dims, make([]float32, rows*dims)
	for i := range rows {
		for j, x := range basis.RawRowView(i) {
			m.Basis[i*dims+j] = float32(x)
		}
	}
	return m
}

// dimensions is how many dimensions n passages are reduced to: where there are
// many, fewer than passages, so that words which go together come together.
func dimensions(n int) int { return max(min(n, minDimensions), min(maxDimensions, n/3)) }

// sample takes at most n of list, evenly.
func sample(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	out := make([]string, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// count counts the terms of each passage; nil if it was stopped.
func (m *lsa) count(passages []string, stop func() bool) []map[string]int {
	counts := make([]map[string]int, len(passages))
	for i, p := range passages {
		if stop() {
			return nil
		}
		counts[i] = m.termsOf(p)
	}
	return counts
}

func (m *lsa) termsOf(text string) map[string]int {
	count := make(map[string]int)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stem == nil {
		m.stem = make(stemmer)
	}
	m.stem.terms(text, func(term string) { count[term]++ })
	return count
}

// choose takes the terms of the vocabulary: those that most passages have, if
// there are too many.
func (m *lsa) choose(counts []map[string]int) {
	passages := make(map[string]int)
	for _, c := range counts {
		for term := range c {
			passages[term]++
		}
	}
	terms := make([]string, 0, len(passages))
	for term := range passages {
		terms = append(terms, term)
	}
	sort.Slice(terms, func(i, j int) bool {
		if a, b := passages[terms[i]], passages[terms[j]]; a != b {
			return a > b
		}
		return terms[i] < terms[j]
	})
	terms = terms[:min(len(terms), maxTerms)]
	m.Terms, m.IDF = make(map[string]int32, len(terms)), make([]float32, len(terms))
	for i, term := range terms {
		m.Terms[term] = int32(i)
		m.IDF[i] = float32(math.Log(1 + float64(len(counts))/float64(passages[term])))
	}
}

// weigh is the row of a passage: TF-IDF, of length 1.
func (m *lsa) weigh(count map[string]int) row {
	r := make(row, 0, len(count))
	var sum float64
	for term, n := range count {
		i, known := m.Terms[term]
		if !known {
			continue
		}
		w := (1 + math.Log(float64(n))) * float64(m.IDF[i])
		r = append(r, cell{i, float32(w)})
		sum += w * w
	}
	sort.Slice(r, func(i, j int) bool { return r[i].column < r[j].column }) // sums in one order are equal
	for i := range r {
		r[i].value /= float32(math.Sqrt(sum))
	}
	return r
}

// ID implements Embedder.
func (m *lsa) ID() string { return "lsa-" + strconv.Itoa(m.Dims) + "-" + m.Seal }

// Embed implements Embedder: it folds texts into the model.
func (m *lsa) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = m.fold(text)
	}
	return out, nil
}

func (m *lsa) fold(text string) []float32 {
	v := make([]float32, m.Dims)
	for _, c := range m.weigh(m.termsOf(text)) {
		at := int(c.column) * m.Dims
		for j, x := range m.Basis[at : at+m.Dims] {
			v[j] += c.value * x
		}
	}
	normalize(v)
	return v
}
