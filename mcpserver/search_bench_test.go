package mcpserver_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/mcpserver"
)

// words makes texts of words as often as they are in prose, two in five of them stop words, and the others by Zipf's law with the vocabulary of a large vault.
type words struct {
	r *rand.Rand
	z *rand.Zipf

	english []string // the most frequent ones; none: the language is made up
	subject []string // of a note: half of its words are some of these
}

func newWords(english []string) *words {
	r := rand.New(rand.NewPCG(7, 7))
	return &words{r: r, z: rand.NewZipf(r, 1.2, 8, 150_000), english: english}
}

// englishWords returns the words of notes in English.
func englishWords(b *testing.B) []string {
	text, err := os.ReadFile("../bridge/index/semantic/testdata/heldout/english.txtar")
	if err != nil {
		b.Fatal(err)
	}
	list := strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool { return r < 'a' || r > 'z' })
	slices.Sort(list)
	return slices.Compact(list)
}

// word returns the next word.
func (w *words) word() string {
	if stop := strings.Fields("the of and to in a is that for it was on with as be at by this from or"); w.r.IntN(5) < 2 {
		return stop[w.r.IntN(len(stop))]
	}
	if len(w.subject) > 0 && w.r.IntN(2) == 0 {
		return w.subject[w.r.IntN(len(w.subject))]
	}
	return w.any()
}

// any returns a word of one to three syllables; the frequent ones are short.
func (w *words) any() string {
	n := w.z.Uint64()
	if n < uint64(len(w.english)) {
		return w.english[n]
	}
	var b strings.Builder
	for n += 20; n > 0; n /= 60 {
		b.WriteByte("bcdfghklmnprstvz"[n%16])
		b.WriteString([]string{"an", "er", "i", "or"}[n/16%4])
	}
	return b.String() + "k" // that no ending is cut off
}

// about chooses what the next texts are about, or nothing.
func (w *words) about(words int) {
	w.subject = nil
	for range words {
		w.subject = append(w.subject, w.any())
	}
}

func (w *words) text(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		b.WriteString(w.word())
		switch {
		case i%70 == 0:
			b.WriteString(".\n\n")
		case i%14 == 0:
			b.WriteString(".\n")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// BenchmarkSearch prints the times of search over 10,000 notes of 4 KB, and the memory that its index takes for each byte of text.
func BenchmarkSearch(b *testing.B) {
	b.Run("English", func(b *testing.B) { benchmarkSearch(b, englishWords(b)) })
	b.Run("another language", func(b *testing.B) { benchmarkSearch(b, nil) })
}

func benchmarkSearch(b *testing.B, english []string) {
	w := newWords(english)
	notes := make(map[string]string)
	size := 0
	for i := range 10_000 {
		w.about(60)
		text := fmt.Sprintf("---\nstatus: %s\n---\n# %s %s\n\n%s", []string{"open", "done", "later"}[i%3], w.word(), w.word(), w.text(4000))
		notes[fmt.Sprintf("Vault/%02d/%s %05d.md", i%50, w.word(), i)] = text
		size += len(text)
	}
	w.about(0)
	f := bridgetest.New(b, notes)
	srv := mcpserver.New(f.Workspace, mcpserver.Options{})
	b.Cleanup(srv.Close)
	c := newTools(b, srv)
	start := time.Now()
	c.ok("search", "query", w.text(20))
	first := time.Since(start)
	before := heap() // with all else that is kept of notes
	x := semantic.New(f.Workspace, semantic.Options{})
	if _, err := x.Find(b.Context(), f.Workspace, semantic.Query{Text: w.text(20)}, semantic.Place{}, 1); err != nil {
		b.Fatal(err)
	}
	index := float64(heap()) - float64(before)
	runtime.KeepAlive(x)
	x = nil
	percentiles(b, func(int) { c.ok("search", "query", w.text(30)) })
	b.ReportMetric(first.Seconds(), "first-s")
	b.ReportMetric(index/float64(size), "of-text")
	b.ReportMetric(0.35, "of-text-limit")
	b.ReportMetric(5000, "p50-limit-µs")
	b.ReportMetric(30_000, "p99-limit-µs")
}
