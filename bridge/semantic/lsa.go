package semantic

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/semantic/internal/rough"
	"github.com/relayfs/relayfs/bridge/terms"
)

// Limits of a model.
const (
	minDimensions = 30
	maxDimensions = 96
	maxTerms      = 15_000 // of the vocabulary
	maxTraining   = 20_000 // passages that a model is built from
)

// lsa is a model of the notes by latent semantic analysis.
type lsa struct {
	Terms map[string]int32 // the row in Basis
	IDF   []float32
	Basis []int8    // row by row, in steps of Step
	Step  []float32 // of each row
	Dims  int
	Seal  string // unique to the model
	Made  int    // number of passages that it was built from

	stem terms.Stemmer
}

// fitLSA builds a model of passages. It returns nil as soon as stop returns true.
func fitLSA(passages []string, seal string, stop func() bool) *lsa {
	m := &lsa{Seal: seal, Made: len(passages)}
	var counts []map[string]int
	for _, p := range sample(passages, maxTraining) {
		if stop() {
			return nil
		}
		counts = append(counts, m.termsOf(p))
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
	m.Dims, m.Basis, m.Step = dims, make([]int8, 0, rows*dims), make([]float32, rows)
	row := make([]float32, dims)
	for i := range rows {
		for j, x := range basis.RawRowView(i) {
			row[j] = float32(x)
		}
		m.Basis, m.Step[i] = rough.Steps(m.Basis, row, math.MaxInt8)
	}
	return m
}

// dimensions returns the number of dimensions for n passages. For many passages it is
// lower than n, so that words which occur together get similar vectors.
func dimensions(n int) int { return max(min(n, minDimensions), min(maxDimensions, n/3)) }

// sample returns at most n of list, evenly spaced.
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

func (m *lsa) termsOf(text string) map[string]int {
	count := make(map[string]int)
	m.stem.Each(text, terms.LanguageOf(text), func(term string) { count[term]++ })
	return count
}

// choose sets the vocabulary: the terms of most passages, if there are too many.
func (m *lsa) choose(counts []map[string]int) {
	passages := make(map[string]int)
	for _, c := range counts {
		for term := range c {
			passages[term]++
		}
	}
	vocabulary := slices.SortedFunc(maps.Keys(passages), func(a, b string) int {
		return cmp.Or(cmp.Compare(passages[b], passages[a]), strings.Compare(a, b))
	})
	vocabulary = vocabulary[:min(len(vocabulary), maxTerms)]
	m.Terms, m.IDF = make(map[string]int32, len(vocabulary)), make([]float32, len(vocabulary))
	for i, term := range vocabulary {
		m.Terms[strings.Clone(term)] = int32(i) // not a part of a passage
		m.IDF[i] = float32(math.Log(1 + float64(len(counts))/float64(passages[term])))
	}
}

// weigh returns the row of a passage: TF-IDF, of length 1.
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
	slices.SortFunc(r, func(a, b cell) int { return cmp.Compare(a.column, b.column) }) // floating-point sums depend on the order
	for i := range r {
		r[i].value /= float32(math.Sqrt(sum))
	}
	return r
}

// ID implements Embedder.
func (m *lsa) ID() string { return "lsa-" + strconv.Itoa(m.Dims) + "-" + m.Seal }

// Embed implements Embedder: it folds texts into the model.
func (m *lsa) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return embedEach(ctx, texts, m.fold)
}

func (m *lsa) fold(text string) []float32 {
	v := make([]float32, m.Dims)
	for _, c := range m.weigh(m.termsOf(text)) {
		at := int(c.column) * m.Dims
		for j, x := range m.Basis[at : at+m.Dims] {
			v[j] += c.value * m.Step[c.column] * float32(x)
		}
	}
	normalize(v)
	return v
}
