package textmerge_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// textOf is a document's text that starts as s.
func textOf(s string) (*ycrdt.Doc, *ycrdt.Text) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("contents")
	doc.Transact(func(txn *ycrdt.Txn) { text.Insert(txn, 0, s) })
	return doc, text
}

// A script of edits does to a document's text what it does to a string.
func TestApplyEdits(t *testing.T) {
	alphabet := []string{"a", "é", "語", "🐸", "\r\n"}
	word := func(rng *rand.Rand, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	randomtest.Check(t, 2000, func(t testing.TB, rng *rand.Rand) {
		var raw, want strings.Builder
		var edits []diffwrap.Edit
		for range rng.IntN(8) { // at times edits that touch
			kept, old, now := word(rng, rng.IntN(3)), word(rng, rng.IntN(3)), word(rng, rng.IntN(3))
			raw.WriteString(kept)
			edits = append(edits, diffwrap.Edit{Off: raw.Len(), Len: len(old), New: now})
			raw.WriteString(old)
			want.WriteString(kept + now)
		}
		doc, text := textOf(raw.String())
		doc.Transact(func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, text, raw.String(), edits) })
		if got := text.String(); got != want.String() {
			t.Fatalf("%q with %+v: %q, want %q", raw.String(), edits, got, want.String())
		}
	})
}

// BenchmarkApplyEdits edits every line of a note that is not ASCII, and of one
// ten times as long: the time of one edit must not grow with the note.
func BenchmarkApplyEdits(b *testing.B) {
	const lines = 3000
	perEdit := func(n int) float64 {
		line := strings.Repeat("the pond 語 ", 8) + "\n"
		raw := strings.Repeat(line, n)
		edits := make([]diffwrap.Edit, n)
		for i := range edits {
			edits[i] = diffwrap.Edit{Off: i * len(line), Len: 3, New: "a"}
		}
		doc, text := textOf(raw)
		start := b.Elapsed()
		doc.Transact(func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, text, raw, edits) })
		return float64(b.Elapsed()-start) / float64(n)
	}
	var short, long float64
	for b.Loop() {
		short += perEdit(lines)
		long += perEdit(10 * lines)
	}
	b.ReportMetric(long/short, "x/edit")
}
