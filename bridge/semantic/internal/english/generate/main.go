// Command generate makes the file of package english: generate vectors.json out.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/relayfs/relayfs/bridge/semantic/internal/english"
	"github.com/relayfs/relayfs/bridge/semantic/internal/rough"
)

const (
	words      = 80_000
	trained    = 20_000 // the words whose strongest directions are taken out
	directions = 3
	smoothing  = 1e-4 // of the weights
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate vectors.json out")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	var source struct {
		Words   []string // the most frequent first
		Vectors map[string][]float64
	}
	if err := json.NewDecoder(f).Decode(&source); err != nil {
		return err
	}
	var list []word
	for rank, text := range source.Words {
		if v := source.Vectors[text]; len(list) < words && len(v) >= english.Dims && !strings.ContainsFunc(text, notLetter) {
			list = append(list, word{text, 1 / float64(rank+10), slices.Clone(v[:english.Dims])})
		}
	}
	center(list)
	slices.SortFunc(list, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return os.WriteFile(to, encode(list), 0o644)
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

type word struct {
	text      string
	frequency float64 // by Zipf's law, up to a factor
	vector    []float64
}

// center takes out the mean of the vectors, weighted by frequency, and their strongest directions.
func center(list []word) {
	mean, sum := make([]float64, english.Dims), 0.0
	for _, w := range list {
		sum += w.frequency
		for j, x := range w.vector {
			mean[j] += w.frequency * x
		}
	}
	gram := mat.NewSymDense(english.Dims, nil)
	for i, w := range list {
		for j := range w.vector {
			w.vector[j] -= mean[j] / sum
		}
		if i < trained {
			gram.SymRankOne(gram, 1, mat.NewVecDense(english.Dims, w.vector))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		panic("the eigenvalues of a symmetric matrix do not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for d := range directions {
		strong := mat.Col(nil, english.Dims-1-d, &vectors) // ascending
		for _, w := range list {
			along := 0.0
			for j, x := range w.vector {
				along += x * strong[j]
			}
			for j := range w.vector {
				w.vector[j] -= along * strong[j]
			}
		}
	}
}

func encode(list []word) []byte {
	var steps, rows, ends, text []byte
	for _, w := range list {
		v := make([]float32, len(w.vector))
		for j, x := range w.vector {
			v[j] = float32(x)
		}
		row, step := rough.Steps(nil, v, rough.MaxSize)
		step *= float32(smoothing / (smoothing + 0.1*w.frequency))
		steps = binary.LittleEndian.AppendUint32(steps, math.Float32bits(step))
		for _, signs := range rough.AppendSigns(nil, row) {
			rows = binary.LittleEndian.AppendUint64(rows, signs)
		}
		rows = rough.AppendSizes(rows, row)
		text = append(text, w.text...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
	}
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(list))), steps, rows, ends, text)
}
