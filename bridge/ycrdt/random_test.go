package ycrdt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A peer of the random scenarios: a document and the updates that it has made
// known, which others receive late, twice, in any order or merged.
type peer struct {
	doc *Doc
	out [][]byte
}

func newPeers(n int) []*peer {
	peers := make([]*peer, n)
	for i := range peers {
		p := &peer{doc: NewDoc(Options{ClientID: ClientID(i + 1)})}
		p.doc.Text("text")
		p.doc.Map("map")
		p.doc.Array("array")
		p.doc.OnUpdate(func(update []byte, _ any) { p.out = append(p.out, update) })
		peers[i] = p
	}
	return peers
}

var snippets = []string{"a", "bc", "hello ", "😀", "é", "日本", "x😀y", "\n", "0123456789"}

func randomEdit(r *rand.Rand, p *peer) {
	d := p.doc
	d.Transact(nil, func(tx *Txn) {
		for range 1 + r.IntN(3) {
			randomOperation(r, d, tx)
		}
	})
}

func randomOperation(r *rand.Rand, d *Doc, tx *Txn) {
	text, m, a := d.Text("text"), d.Map("map"), d.Array("array")
	key := fmt.Sprint("k", r.IntN(3))
	switch r.IntN(10) {
	case 0, 1, 2:
		text.Insert(tx, r.IntN(text.LenIn(tx)+1), snippets[r.IntN(len(snippets))])
	case 3, 4:
		text.Delete(tx, r.IntN(text.LenIn(tx)+1), 1+r.IntN(4))
	case 5:
		m.Set(tx, key, r.IntN(100))
	case 6:
		m.Delete(tx, key)
	case 7:
		a.Insert(tx, r.IntN(a.LenIn(tx)+1), r.IntN(9), "s", NewText("in"), []byte{1})
	case 8:
		a.Delete(tx, r.IntN(a.LenIn(tx)+1), 1+r.IntN(3))
	case 9:
		nested, _ := m.GetIn(tx, "nested")
		if inner, ok := nested.(*Map); ok && r.IntN(4) > 0 {
			inner.Set(tx, key, NewArray(1, NewMap(nil)))
		} else {
			m.Set(tx, "nested", NewMap(map[string]any{"t": NewText("x")}))
		}
	}
}

func TestConvergence(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		peers := newPeers(2 + r.IntN(4))
		for range 30 {
			p := peers[r.IntN(len(peers))]
			if r.IntN(3) > 0 {
				randomEdit(r, p)
			} else {
				deliver(t, r, peers[r.IntN(len(peers))], p)
			}
			verify(t, p.doc)
		}
		exchangeAll(t, peers)
		compareAll(t, seed, peers)
		if t.Failed() {
			return
		}
	}
}

// deliver hands some of what from has sent to p.
func deliver(t *testing.T, r *rand.Rand, from, p *peer) {
	if len(from.out) == 0 {
		return
	}
	switch r.IntN(3) {
	case 0:
		apply(t, p.doc, from.out[r.IntN(len(from.out))])
	case 1:
		at := r.IntN(len(from.out))
		merged, err := MergeUpdates(from.out[at:]...)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, p.doc, merged)
	default:
		apply(t, p.doc, from.doc.EncodeStateAsUpdate(p.doc.EncodeStateVector()))
	}
}

func exchangeAll(t *testing.T, peers []*peer) {
	for _, from := range peers {
		for _, to := range peers {
			if from != to {
				apply(t, to.doc, from.doc.EncodeStateAsUpdate(to.doc.EncodeStateVector()))
			}
		}
	}
}

func compareAll(t *testing.T, seed uint64, peers []*peer) {
	want, _ := json.Marshal(peers[0].doc.ToJSON())
	for _, p := range peers[1:] {
		if got, _ := json.Marshal(p.doc.ToJSON()); !bytes.Equal(got, want) {
			t.Errorf("seed %d:\n got %s\nwant %s", seed, got, want)
		}
		if got, want := p.doc.EncodeStateVector(), peers[0].doc.EncodeStateVector(); !bytes.Equal(got, want) {
			t.Errorf("seed %d: state vectors differ", seed)
		}
		if !p.doc.Snapshot().Equal(peers[0].doc.Snapshot()) {
			t.Errorf("seed %d: snapshots differ", seed)
		}
	}
}
