package semantic

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	words      = 80_000
	trained    = 20_000 // the words whose strongest directions are taken out
	directions = 3
	smoothing  = 1e-4 // of the weights
)

var vectorsJSON = flag.String("vectors", "", "make english.vectors from this file")

// TestMakeEnglish makes the file of the vectors if -vectors gives it their source, see english.go. Else it tests nothing.
func TestMakeEnglish(t *testing.T) {
	if *vectorsJSON == "" {
		return
	}
	if err := makeEnglish(*vectorsJSON, "english.vectors"); err != nil {
		t.Fatal(err)
	}
}

func makeEnglish(from, to string) error {
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
	var list []frequentWord
	for rank, text := range source.Words {
		if v := source.Vectors[text]; len(list) < words && len(v) >= englishDims && !strings.ContainsFunc(text, notLetter) {
			list = append(list, frequentWord{text, 1 / float64(rank+10), slices.Clone(v[:englishDims])})
		}
	}
	center(list)
	slices.SortFunc(list, func(a, b frequentWord) int { return strings.Compare(a.text, b.text) })
	return os.WriteFile(to, encode(list), 0o644)
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

type frequentWord struct {
	text      string
	frequency float64 // by Zipf's law, up to a factor
	vector    []float64
}

// center takes out the mean of the vectors, weighted by frequency, and their strongest directions.
func center(list []frequentWord) {
	mean, sum := make([]float64, englishDims), 0.0
	for _, w := range list {
		sum += w.frequency
		for j, x := range w.vector {
			mean[j] += w.frequency * x
		}
	}
	var gram [englishDims][englishDims]float64
	for i, w := range list {
		for j := range w.vector {
			w.vector[j] -= mean[j] / sum
		}
		if i >= trained {
			continue
		}
		for j, x := range w.vector {
			for k, y := range w.vector {
				gram[j][k] += x * y
			}
		}
	}
	for range directions {
		strong := strongest(&gram)
		for _, w := range list {
			takeOut(w.vector, strong)
		}
		for j := range gram { // the other directions are at right angles to it
			takeOut(gram[j][:], strong)
		}
	}
}

// strongest returns the eigenvector of a symmetric matrix for its largest eigenvalue, by power iteration.
func strongest(gram *[englishDims][englishDims]float64) []float64 {
	v := make([]float64, englishDims)
	for j := range v {
		v[j] = float64(j%7) - 3
	}
	for range 10_000 {
		next, length := make([]float64, englishDims), 0.0
		for j := range next {
			for k, x := range v {
				next[j] += gram[j][k] * x
			}
			length += next[j] * next[j]
		}
		for j := range next {
			next[j] /= math.Sqrt(length)
		}
		v = next
	}
	return v
}

// takeOut takes the part along a direction, which has the length 1, out of a vector.
func takeOut(v, direction []float64) {
	along := 0.0
	for j, x := range v {
		along += x * direction[j]
	}
	for j := range v {
		v[j] -= along * direction[j]
	}
}

func encode(list []frequentWord) []byte {
	var steps, rows, ends, text []byte
	for _, w := range list {
		v := make([]float32, len(w.vector))
		for j, x := range w.vector {
			v[j] = float32(x)
		}
		row, step := inSteps(v)
		step *= float32(smoothing / (smoothing + 0.1*w.frequency))
		steps = binary.LittleEndian.AppendUint32(steps, math.Float32bits(step))
		rows = append(rows, row...)
		text = append(text, w.text...)
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(text)))
	}
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(list))), steps, rows, ends, text)
}
