package ycrdt

import "testing"

func BenchmarkLoad(b *testing.B) {
	d := NewDoc(Options{ClientID: 1})
	play(d, newTrace(b4Edits, 1, 5))
	state := d.EncodeStateAsUpdate(nil)
	b.Logf("%d structs", len(d.store.items)-1-d.store.freeCount)
	b.SetBytes(int64(len(state)))
	for b.Loop() {
		load(b, state)
	}
}
