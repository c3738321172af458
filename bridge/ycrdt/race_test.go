package ycrdt_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const goroutines = 8

// inParallel runs fn in eight goroutines and waits for them.
func inParallel(fn func(worker int)) {
	var wg sync.WaitGroup
	for worker := range goroutines {
		wg.Go(func() { fn(worker) })
	}
	wg.Wait()
}

// TestSharedDoc edits, reads, encodes and observes one document from eight goroutines.
func TestSharedDoc(t *testing.T) {
	const rounds = 100
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("t")
	mirror := ycrdt.NewDoc(ycrdt.Options{})
	doc.OnUpdate(func(update []byte) {
		if err := mirror.ApplyUpdate(update); err != nil {
			t.Error(err)
		}
	})
	inParallel(func(worker int) {
		own := ycrdt.NewDoc(ycrdt.Options{})
		for i := range rounds {
			doc.Transact(func(tx *ycrdt.Txn) {
				text.Insert(tx, text.LenIn(tx)/2, "x")
				doc.Map("m").Set(tx, fmt.Sprint(worker), i)
			})
			if text.Len() == 0 || text.String() == "" {
				t.Error("the text is empty after an insertion")
			}
			ycrdt.Content(doc)
			if err := own.ApplyUpdate(doc.EncodeStateAsUpdate(own.EncodeStateVector())); err != nil {
				t.Error(err)
			}
			own.Transact(func(tx *ycrdt.Txn) { own.Text("t").Insert(tx, 0, "o") })
		}
		if err := doc.ApplyUpdate(own.EncodeStateAsUpdate(nil)); err != nil {
			t.Error(err)
		}
	})
	if got, want := text.Len(), 2*goroutines*rounds; got != want {
		t.Errorf("the text has %d units, want %d", got, want)
	}
	if err := ycrdt.Check(doc); err != nil {
		t.Error(err)
	}
	if !mirror.Snapshot().Equal(doc.Snapshot()) {
		t.Error("the updates do not add up to the document")
	}
}

// TestSeparateDocs has eight goroutines with a document each that exchange updates.
func TestSeparateDocs(t *testing.T) {
	docs := make([]*ycrdt.Doc, goroutines)
	for i := range docs {
		docs[i] = ycrdt.NewDoc(ycrdt.Options{})
	}
	exchange := func(worker int) {
		for _, from := range docs {
			if err := docs[worker].ApplyUpdate(from.EncodeStateAsUpdate(docs[worker].EncodeStateVector())); err != nil {
				t.Error(err)
			}
		}
	}
	inParallel(func(worker int) {
		text := docs[worker].Text("t")
		for range 50 {
			docs[worker].Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 0, "ab") })
			docs[worker].Transact(func(tx *ycrdt.Txn) { text.Delete(tx, 1, 1) })
			exchange(worker)
		}
	})
	inParallel(exchange)
	for _, d := range docs {
		if got, want := d.Text("t").String(), docs[0].Text("t").String(); got != want {
			t.Errorf("text is %q, want %q", got, want)
		}
		if err := ycrdt.Check(d); err != nil {
			t.Error(err)
		}
	}
}

// TestPanicInTransaction checks that a panic leaves the document usable.
func TestPanicInTransaction(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("t")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		doc.Transact(func(tx *ycrdt.Txn) {
			text.Insert(tx, 0, "kept")
			panic("callback")
		})
	}()
	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 4, "!") })
	if got := text.String(); got != "kept!" {
		t.Errorf("text is %q", got)
	}
}

// TestStaleTxn checks that a transaction cannot be used after its end.
func TestStaleTxn(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	var kept *ycrdt.Txn
	doc.Transact(func(tx *ycrdt.Txn) { kept = tx })
	defer func() {
		if recover() == nil {
			t.Error("a stale Txn was accepted")
		}
	}()
	doc.Text("t").Insert(kept, 0, "x")
}
