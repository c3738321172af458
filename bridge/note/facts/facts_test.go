package facts

import (
	"fmt"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// write inserts text at the end and enters a record of it by author, made some days ago.
func write(doc *ycrdt.Doc, author, text string, days int, change func(*model.Record)) model.Record {
	contents, client := doc.Text(model.ContentsName), doc.ClientID()
	rec := model.Record{Author: author, Client: uint64(client), Clock: doc.StateVector()[client], Time: time.Now().UTC().Add(-time.Duration(days) * 24 * time.Hour)}
	doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, contents.LenIn(tx), text) })
	rec.Len = doc.StateVector()[client] - rec.Clock
	if change != nil {
		change(&rec)
	}
	Put(doc, &rec)
	return rec
}

func authors(records []model.Record) (list []string) {
	for _, r := range records {
		list = append(list, r.Author)
	}
	return list
}

func TestPrune(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	write(doc, "plain", "plain ", 100, nil)
	old := write(doc, "moved", "x", 100, nil)
	write(doc, "waits", "{++waits++} ", 100, func(r *model.Record) {
		r.Remaps = []model.IDRemap{{Old: model.IDRange{Client: old.Client, Clock: old.Clock, Len: 1}, New: model.IDRange{Client: r.Client, Clock: r.Clock + 3, Len: 1}}}
	})
	write(doc, "comments", "{>>a comment<<} ", 100, nil)
	write(doc, "recent", "recent", 80, nil)
	Prune(doc, time.Now())
	var f Facts
	news, _ := f.Read(doc)
	if got := fmt.Sprint(authors(news)); got != "[moved waits comments recent]" {
		t.Errorf("%v are left", got)
	}
}

// Whoever reads entries in whatever order folds them in the same one, its own records included.
func TestOrder(t *testing.T) {
	t.Run("first", func(t *testing.T) { testOrder(t, 1, "[a1 a2 b2 b3]") })
	t.Run("second", func(t *testing.T) { testOrder(t, 3, "[a1 b2 a2 b3]") })
}

func testOrder(t *testing.T, client ycrdt.ClientID, want string) {
	a, b := ycrdt.NewDoc(ycrdt.Options{ClientID: client}), ycrdt.NewDoc(ycrdt.Options{ClientID: 2})
	exchange := func() {
		for _, way := range [][2]*ycrdt.Doc{{a, b}, {b, a}} {
			if err := way[1].ApplyUpdate(way[0].EncodeStateAsUpdate(way[1].EncodeStateVector())); err != nil {
				t.Fatal(err)
			}
		}
	}
	var ofA, ofB []model.Record
	var running Facts // of a
	put := func(doc *ycrdt.Doc, mine *[]model.Record, author string) {
		rec := write(doc, author, author, 0, nil)
		*mine = append(*mine, rec)
		if doc == a {
			running.Own(&rec)
		}
	}
	put(a, &ofA, "a1")
	exchange()
	if news, inOrder := running.Read(a); len(news) > 0 || !inOrder {
		t.Errorf("its own records are news: %v", authors(news))
	}
	put(b, &ofB, "b2")
	put(a, &ofA, "a2")
	put(b, &ofB, "b3")
	exchange()
	if news, inOrder := running.Read(a); fmt.Sprint(authors(news)) != "[b2 b3]" || inOrder != (client == 1) {
		t.Errorf("news are %v, in order %v", authors(news), inOrder)
	}
	var other Facts
	other.Read(b)
	for _, got := range []string{fmt.Sprint(authors(running.With(ofA))), fmt.Sprint(authors(other.With(ofB)))} {
		if got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	}
}

// An undo names the decision that it undoes, as its mount has it.
func TestUndoesSeq(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	decision := func(d model.Decision) func(*model.Record) {
		return func(r *model.Record) { r.Seq, r.Decision = 5, &d }
	}
	item := []model.DecidedItem{{ID: "s1", New: "text"}}
	write(doc, "", "a", 0, decision(model.Decision{Batch: "b1", Verdict: model.Rejected, Items: item}))
	write(doc, "", "b", 0, decision(model.Decision{Batch: "b2", Verdict: model.Undone, Undoes: "b1", UndoesSeq: 5, Items: item}))
	var f Facts
	news, _ := f.Read(doc)
	if len(news) != 2 || news[0].Seq < foreign || news[1].Decision.UndoesSeq != news[0].Seq {
		t.Errorf("read %+v", news)
	}
}
