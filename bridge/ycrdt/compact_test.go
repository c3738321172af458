package ycrdt

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// TestCompaction loads a document from a log of small updates: it must not cost
// more than the same document loaded whole, and stay usable.
func TestCompaction(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	var log [][]byte
	d.OnUpdate(func(u []byte) { log = append(log, u) })
	play(d, newTrace(20_000, 3, 4))
	d.Transact(func(tx *Txn) { d.Map("m").Set(tx, "k", NewArray(1, NewText("nested"))) })
	merged, err := MergeUpdates(log...)
	if err != nil {
		t.Fatal(err)
	}
	whole, pieces := load(t, d.EncodeStateAsUpdate(nil)), load(t, merged)
	verify(t, pieces)
	if got, want := cap(pieces.store.Items), 2*cap(whole.store.Items); got > want {
		t.Errorf("slab has room for %d items, want at most %d", got, want)
	}
	if got, want := pieces.store.Arena.Cap(), 2*whole.store.Arena.Cap()+structs.MinDead; got > want {
		t.Errorf("arena has %d bytes, want at most %d", got, want)
	}
	for _, d := range []*Doc{whole, pieces} {
		text := d.Text("t")
		d.clientID.Store(9)
		d.Transact(func(tx *Txn) {
			text.Insert(tx, text.LenIn(tx)/2, "middle")
			text.Delete(tx, 10, 100)
		})
		verify(t, d)
	}
	wantHex(t, "state", pieces.EncodeStateAsUpdate(nil), bytesHex(whole.EncodeStateAsUpdate(nil)))
}

// TestArenaCompaction deletes most of a long text.
func TestArenaCompaction(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	text := d.Text("t")
	d.Transact(func(tx *Txn) { text.Insert(tx, 0, strings.Repeat("0123456789", 10_000)) })
	d.Transact(func(tx *Txn) { text.Delete(tx, 5, 99_990) })
	verify(t, d)
	if n := d.store.Arena.Len(); n > structs.MinDead {
		t.Errorf("arena has %d bytes for 10 units", n)
	}
	if got := text.String(); got != "0123456789" {
		t.Errorf("text is %q", got)
	}
}
