package semantic

import (
	"context"
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
)

// general is the Embedder for English text: it adds the vectors of the words.
type general struct{}

func (general) ID() string { return "english-1" }

func (general) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i], _, _ = embedEnglish(text)
	}
	return out, nil
}

// embedEnglish returns the vector of a text, the number of its words with a vector, and the number of all its words.
// Both numbers leave out stop words and single letters.
func embedEnglish(text string) (v []float32, known, all int) {
	v = make([]float32, englishDims)
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		word = strings.ToLower(word)
		if len(word) < 2 || lexical.IsStop(word, lexical.English) {
			continue
		}
		all++
		if addEnglish(v, word) {
			known++
		}
	}
	normalize(v)
	return v, known, all
}

// sampleSize is the number of bytes from which the language of a note is determined.
const sampleSize = 4000

func isEnglish(text string) bool {
	if len(text) > sampleSize {
		text = text[:characterStart(text, sampleSize)]
	}
	if lexical.LanguageOf(text) != lexical.English {
		return false
	}
	_, known, all := embedEnglish(text)
	return 2*known >= all
}
