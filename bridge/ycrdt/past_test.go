package ycrdt_test

import (
	"math/rand/v2"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// moment is what a document showed after one update.
type moment struct {
	seen *ycrdt.Snapshot
	text string
}

// drawEdits has some clients edit one text, each update arriving everywhere at once or later.
func drawEdits(t testing.TB, r *rand.Rand) (updates [][]byte, moments []moment) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	seen := ycrdt.JoinSnapshots()
	apply := func(update []byte) {
		if err := doc.ApplyUpdate(update); err != nil {
			t.Fatal(err)
		}
		s, err := ycrdt.SnapshotOf(update)
		if err != nil {
			t.Fatal(err)
		}
		seen = ycrdt.JoinSnapshots(seen, s)
		updates = append(updates, update)
		moments = append(moments, moment{seen, doc.Text("contents").String()})
	}
	clients := randomtest.Between(r, 1, 3)
	var peers []*ycrdt.Doc
	for range clients {
		peers = append(peers, ycrdt.NewDoc(ycrdt.Options{}))
	}
	for range randomtest.Between(r, 1, 30) {
		peer := peers[randomtest.Between(r, 0, clients-1)]
		if r.IntN(2) == 0 {
			if err := peer.ApplyUpdate(doc.EncodeStateAsUpdate(nil)); err != nil {
				t.Fatal(err)
			}
		}
		var made []byte
		peer.OnUpdate(func(u []byte) { made = u })
		text := peer.Text("contents")
		at := randomtest.Between(r, 0, text.Len())
		n := randomtest.Between(r, 0, text.Len()-at)
		words := randomtest.Pick(r, "", "a", "more words ", "ü", "line\n")
		peer.Transact(func(tx *ycrdt.Txn) {
			text.Delete(tx, at, n)
			text.Insert(tx, at, words)
		})
		peer.OnUpdate(nil)
		if made != nil {
			apply(made)
		}
	}
	return updates, moments
}

// What a document showed at any time is found in all that it ever held, by the snapshots of the updates until then.
func TestPastBySnapshots(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		updates, moments := drawEdits(t, r)
		all, err := ycrdt.MergeUpdates(updates...)
		if err != nil {
			t.Fatal(err)
		}
		held, err := ycrdt.WithDeletesOf(all, ycrdt.JoinSnapshots())
		if err != nil {
			t.Fatal(err)
		}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		if err := doc.ApplyUpdate(held); err != nil {
			t.Fatal(err)
		}
		text := []rune(doc.Text("contents").String()) // each of one unit
		for i, m := range moments {
			var got []rune
			at := 0
			for _, r := range doc.Text("contents").Runs() {
				for k := range r.Len {
					id := ycrdt.ID{Client: r.ID.Client, Clock: r.ID.Clock + uint64(k)}
					if ycrdt.Holds(m.seen, id) {
						got = append(got, text[at])
					}
					at++
				}
			}
			if string(got) != m.text {
				t.Fatalf("after update %d: %q, want %q", i, string(got), m.text)
			}
		}
	})
}
