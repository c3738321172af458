package ycrdt_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Text that is put at what was deleted stands where that stood, in whatever order it
// is put back, and every peer has it there.
func TestInsertAtWhatWasDeleted(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		d := ycrdt.NewDoc(ycrdt.Options{ClientID: 7})
		text := d.Text("t")
		d.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 0, "lXYr") })
		d.Transact(func(tx *ycrdt.Txn) { text.Delete(tx, 1, 2) })
		for _, i := range order {
			id := ycrdt.ID{Client: 7, Clock: uint64(1 + i)}
			d.Transact(func(tx *ycrdt.Txn) {
				if !text.InsertAt(tx, id, ycrdt.After, "xy"[i:i+1]) {
					t.Errorf("unit %v has no place", id)
				}
			})
		}
		if got := text.String(); got != "lxyr" {
			t.Errorf("in the order %v: %q", order, got)
		}
		peer := ycrdt.NewDoc(ycrdt.Options{})
		if err := peer.ApplyUpdate(d.EncodeStateAsUpdate(nil)); err != nil || peer.Text("t").String() != "lxyr" {
			t.Errorf("a peer has %q, %v", peer.Text("t").String(), err)
		}
		d.Transact(func(tx *ycrdt.Txn) {
			if text.InsertAt(tx, ycrdt.ID{Client: 7, Clock: 999}, ycrdt.After, "z") || text.InsertAt(tx, ycrdt.ID{Client: 8}, ycrdt.Before, "z") {
				t.Error("a unit that is not there has a place")
			}
		})
	}
}

// Peers that insert at deleted units at the same time agree, and Pieces names every unit once.
func TestInsertAtConverges(t *testing.T) {
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		docs := []*ycrdt.Doc{ycrdt.NewDoc(ycrdt.Options{ClientID: 1}), ycrdt.NewDoc(ycrdt.Options{ClientID: 2}), ycrdt.NewDoc(ycrdt.Options{ClientID: 3})}
		for range 40 {
			d := docs[r.IntN(len(docs))]
			text := d.Text("t")
			pieces := text.Pieces(0, text.Len())
			d.Transact(func(tx *ycrdt.Txn) {
				text.InsertAfter(tx, r.IntN(text.LenIn(tx)+1), "ab")
				if len(pieces) > 0 {
					p := pieces[r.IntN(len(pieces))]
					p.ID.Clock += uint64(r.IntN(p.Len))
					text.InsertAt(tx, p.ID, ycrdt.Side(r.IntN(2)), "cd")
				}
				text.Delete(tx, r.IntN(text.LenIn(tx)+1), r.IntN(4))
			})
			if err := ycrdt.Check(d); err != nil {
				t.Fatalf("%v", err)
			}
			if r.IntN(3) == 0 {
				if err := docs[r.IntN(len(docs))].ApplyUpdate(d.EncodeStateAsUpdate(nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, d := range docs {
			for _, from := range docs {
				if err := d.ApplyUpdate(from.EncodeStateAsUpdate(nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		docs = append(docs, ycrdt.NewDoc(ycrdt.Options{}))
		if err := docs[3].ApplyUpdate(docs[0].EncodeStateAsUpdate(nil)); err != nil {
			t.Fatal(err)
		}
		want := docs[0].Text("t").String()
		for i, d := range docs {
			if got := d.Text("t").String(); got != want {
				t.Fatalf("document %d has %q, want %q", i, got, want)
			}
			units, visible := 0, 0
			for _, p := range d.Text("t").Pieces(0, len(want)) {
				units += p.Len
				if !p.Deleted {
					visible += p.Len
				}
			}
			all := 0
			for _, clock := range d.StateVector() {
				all += int(clock)
			}
			if visible != len(want) || units != all {
				t.Fatalf("pieces of %d units, %d of them visible; want %d and %d", units, visible, all, len(want))
			}
			checkPlaces(t, r, d.Text("t"))
		}
	})
}

// checkPlaces checks that Find and a part of Pieces have the same places as all Pieces.
func checkPlaces(t testing.TB, r *rand.Rand, text *ycrdt.Text) {
	size := text.Len()
	from := r.IntN(size + 1)
	to := from + r.IntN(size+1-from)
	placeOf := func(p ycrdt.Piece, i int) ycrdt.Piece {
		one := ycrdt.Piece{ID: ycrdt.ID{Client: p.ID.Client, Clock: p.ID.Clock + uint64(i)}, Len: 1, Pos: p.Pos, Deleted: p.Deleted}
		if !p.Deleted {
			one.Pos += i
		}
		return one
	}
	var want, got []ycrdt.Piece
	for _, p := range text.Pieces(0, size) {
		for i := range p.Len {
			one := placeOf(p, i)
			if found := text.Find(ycrdt.Run{ID: one.ID, Len: 1}); !slices.Equal(found, []ycrdt.Piece{one}) {
				t.Fatalf("found %+v, want %+v", found, one)
			}
			if from <= one.Pos && (one.Pos < to || one.Pos == to && one.Deleted) {
				want = append(want, one)
			}
		}
	}
	for _, p := range text.Pieces(from, to) {
		for i := range p.Len {
			got = append(got, placeOf(p, i))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("pieces from %d to %d: %+v, want %+v", from, to, got, want)
	}
}
