package diffwrap

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// prose makes about n bytes of notes: paragraphs of sentences, headings, lists, all words from one vocabulary.
func prose(n int, seed uint64, vocabulary string) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "## %s %s\n\n", randomWord(r, vocabulary), randomWord(r, vocabulary))
		case 1:
			for range 2 + r.IntN(4) {
				fmt.Fprintf(&b, "- [ ] %s %s %s\n", randomWord(r, vocabulary), randomWord(r, vocabulary), randomWord(r, vocabulary))
			}
			b.WriteByte('\n')
		default:
			for range 20 + r.IntN(60) {
				b.WriteString(randomWord(r, vocabulary))
				b.WriteByte(' ')
			}
			b.WriteString("end.\n\n")
		}
	}
	return b.String()[:n-1] + "\n"
}

func randomWord(r *rand.Rand, vocabulary string) string {
	return fmt.Sprintf("%s%d", vocabulary, r.IntN(4000))
}

// scattered returns text with one word replaced in each of n places.
func scattered(text string, n int) string {
	parts := strings.Split(text, " ")
	for k := range n {
		parts[(2*k+1)*len(parts)/(2*n)] = "CHANGED"
	}
	return strings.Join(parts, " ")
}

// plainWordDiff is sergi/go-diff's word mode as its documentation has it for lines: words and blanks interned as
// runes, compared in one go, without a clock.
func plainWordDiff(old, new string) []diffmatchpatch.Diff {
	ids := make(map[string]int)
	differ := diffmatchpatch.New()
	differ.DiffTimeout = 0
	return differ.DiffMainRunes(wordRunes(old, ids), wordRunes(new, ids), false)
}

func wordRunes(s string, ids map[string]int) []rune {
	var out []rune
	for s != "" {
		space := unicode.IsSpace(rune(s[0]))
		n := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) != space })
		if n < 0 {
			n = len(s)
		}
		id, ok := ids[s[:n]]
		if !ok {
			id = len(ids)
			ids[s[:n]] = id
		}
		out, s = append(out, rune(1<<16+id)), s[n:] // no surrogate
	}
	return out
}

func BenchmarkScan(b *testing.B) {
	note := prose(1<<20, 1, "w")
	b.SetBytes(int64(len(note)))
	for b.Loop() {
		if scan(note) > 0 {
			b.Fatal("the note has braces")
		}
	}
}

func BenchmarkPutUnchanged(b *testing.B) {
	note := prose(1<<20, 1, "w")
	marked := Apply(note, must(Put(note, scattered(note, 20))))
	for _, bm := range []struct {
		name, raw string
		known     Known
	}{{"plain", note, Known{}}, {"marked", marked, Known{}.MarksOf(marked)}, {"typed marks", marked, Known{}}} {
		shown := strings.Clone(Accepted(bm.raw))
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.raw)))
			for b.Loop() {
				if r, err := (Options{Known: bm.known}).Put(bm.raw, shown); err != nil || r.Edits != nil {
					b.Fatal(r.Edits, err)
				}
			}
		})
	}
}

func BenchmarkPutScattered(b *testing.B) {
	old := prose(1<<20, 1, "w")
	comparePut(b, old, scattered(old, 20))
}

func BenchmarkPutRewrite(b *testing.B) {
	comparePut(b, prose(100<<10, 1, "w"), prose(100<<10, 2, "v"))
}

// BenchmarkPutThird changes every third word.
func BenchmarkPutThird(b *testing.B) {
	old := prose(100<<10, 1, "w")
	parts := strings.Split(old, " ")
	for i := 0; i < len(parts); i += 3 {
		parts[i] = strings.ReplaceAll(parts[i], "w", "v")
	}
	comparePut(b, old, strings.Join(parts, " "))
}

// comparePut measures Put and, in the same run, sergi/go-diff's plain word mode on the same texts.
func comparePut(b *testing.B, old, new string) {
	b.Run("put", func(b *testing.B) {
		b.SetBytes(int64(len(old)))
		for b.Loop() {
			must(Put(old, new))
		}
	})
	b.Run("sergi-words", func(b *testing.B) {
		b.SetBytes(int64(len(old)))
		for b.Loop() {
			plainWordDiff(old, new)
		}
	})
}

func BenchmarkDiffScattered(b *testing.B) {
	old := prose(1<<20, 1, "w")
	new := scattered(old, 20)
	b.SetBytes(int64(len(old)))
	for b.Loop() {
		Diff(old, new)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
