package ycrdt_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// moment is what a document showed after one update.
type moment struct {
	seen *ycrdt.Snapshot
	text string
}

// drawEdits has some clients edit one text, each update arriving everywhere at once or later.
func drawEdits(t *rapid.T) (updates [][]byte, moments []moment) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	seen := ycrdt.JoinSnapshots()
	apply := func(update []byte) {
		if err := doc.ApplyUpdate(update, nil); err != nil {
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
	clients := rapid.IntRange(1, 3).Draw(t, "clients")
	var peers []*ycrdt.Doc
	for range clients {
		peers = append(peers, ycrdt.NewDoc(ycrdt.Options{}))
	}
	for range rapid.IntRange(1, 30).Draw(t, "edits") {
		peer := peers[rapid.IntRange(0, clients-1).Draw(t, "peer")]
		if rapid.Bool().Draw(t, "up to date") {
			if err := peer.ApplyUpdate(doc.EncodeStateAsUpdate(nil), nil); err != nil {
				t.Fatal(err)
			}
		}
		var made []byte
		cancel := peer.OnUpdate(func(u []byte, _ any) { made = u })
		text := peer.Text("contents")
		at := rapid.IntRange(0, text.Len()).Draw(t, "at")
		n := rapid.IntRange(0, text.Len()-at).Draw(t, "deleted")
		words := rapid.SampledFrom([]string{"", "a", "more words ", "ü", "line\n"}).Draw(t, "words")
		peer.Transact(nil, func(tx *ycrdt.Txn) {
			text.Delete(tx, at, n)
			text.Insert(tx, at, words)
		})
		cancel()
		if made != nil {
			apply(made)
		}
	}
	return updates, moments
}

// What a document showed at any time is found in all that it ever held, by the snapshots of
// the updates until then.
func TestPastBySnapshots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		updates, moments := drawEdits(t)
		all, err := ycrdt.MergeUpdates(updates...)
		if err != nil {
			t.Fatal(err)
		}
		held, err := ycrdt.WithDeletesOf(all, ycrdt.JoinSnapshots())
		if err != nil {
			t.Fatal(err)
		}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		if err := doc.ApplyUpdate(held, nil); err != nil {
			t.Fatal(err)
		}
		text := []rune(doc.Text("contents").String()) // each of one unit
		for i, m := range moments {
			var got []rune
			at := 0
			for _, r := range doc.Text("contents").Runs() {
				for k := range r.Len {
					id := ycrdt.ID{Client: r.ID.Client, Clock: r.ID.Clock + uint64(k)}
					if m.seen.Seen(id) && !m.seen.Deleted(id) {
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
