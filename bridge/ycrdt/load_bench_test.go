package ycrdt

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkLoad loads documents from updates, warm.
func BenchmarkLoad(b *testing.B) {
	d := NewDoc(Options{ClientID: 1})
	play(d, newTrace(b4Edits, 1, b4Jump))
	r := rand.New(rand.NewPCG(1, 1))
	for name, state := range map[string][]byte{
		"B4":         d.EncodeStateAsUpdate(nil),
		"plainNote":  plainNote(r),
		"editedNote": editedNote(r),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(state)))
			for b.Loop() {
				load(b, state)
			}
		})
	}
}

// BenchmarkType types, one character and transaction after the other, at one place of a long text.
func BenchmarkType(b *testing.B) {
	d := NewDoc(Options{ClientID: 1})
	play(d, newTrace(b4Edits, 1, b4Jump))
	text := d.Text("t")
	pos := text.Len() / 2
	b.ReportAllocs()
	for b.Loop() {
		d.Transact(func(tx *Txn) { text.Insert(tx, pos, "x") })
		pos++
	}
}

// BenchmarkEncode encodes a whole document.
func BenchmarkEncode(b *testing.B) {
	d := NewDoc(Options{ClientID: 1})
	play(d, newTrace(b4Edits, 1, b4Jump))
	b.ReportAllocs()
	for b.Loop() {
		d.EncodeStateAsUpdate(nil)
	}
}

// BenchmarkString reads the text of a document that has just changed.
func BenchmarkString(b *testing.B) {
	d := NewDoc(Options{ClientID: 1})
	play(d, newTrace(b4Edits, 1, b4Jump))
	text := d.Text("t")
	b.ReportAllocs()
	for b.Loop() {
		d.Transact(func(tx *Txn) { text.Insert(tx, 0, "x") })
		_ = text.String()
	}
}
