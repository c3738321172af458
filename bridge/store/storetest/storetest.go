// Package storetest is the suite that every model.Store passes. For tests of crashes it has the
// checkpoint of a store.Store on a simulated disk.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) model.Store { ... })
//	}
package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Run runs the suite. open makes a new, empty store.
func Run(t *testing.T, open func(t *testing.T) model.Store) {
	tests := []struct {
		name string
		test func(*testing.T, model.Store)
	}{
		{"Empty", testEmpty},
		{"AppendLoad", testAppendLoad},
		{"AppendRefuses", testAppendRefuses},
		{"LoadIsACopy", testLoadIsACopy},
		{"DocumentsMove", testDocumentsMove},
		{"Rename", testRename},
		{"RenameIntoItself", testRenameIntoItself},
		{"Materialized", testMaterialized},
		{"Concurrent", testConcurrent},
		{"LongHistory", testLongHistory},
		{"Journal", testJournal},
		{"Forget", testForget},
		{"Abort", testAbort},
		{"Place", testPlace},
		{"Unsettled", testUnsettled},
		{"Proposals", testProposals},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, open(t))
		})
	}
}

// Record is a record whose update inserts s at the beginning of doc's text.
func Record(doc *ycrdt.Doc, s string) model.Record {
	rec := model.Record{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	cancel := doc.OnUpdate(func(update []byte, _ any) { rec.Update = update })
	defer cancel()
	text := doc.Text("contents")
	rec.Client, rec.Clock = uint64(doc.ClientID()), doc.StateVector()[doc.ClientID()]
	doc.Transact(nil, func(txn *ycrdt.Txn) { text.Insert(txn, 0, s) })
	rec.Len = doc.StateVector()[doc.ClientID()] - rec.Clock
	return rec
}

// Text is the text that a history describes.
func Text(t testing.TB, h model.History) string {
	t.Helper()
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range h.Records {
		if err := doc.ApplyUpdate(rec.Update, nil); err != nil {
			t.Fatalf("record %d: %v", rec.Seq, err)
		}
	}
	return doc.Text("contents").String()
}

func appendTo(t testing.TB, s model.Store, id model.DocID, p model.Path, recs ...model.Record) uint64 {
	t.Helper()
	seq, err := s.Append(id, p, recs...)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func load(t testing.TB, s model.Store, id model.DocID) model.History {
	t.Helper()
	h, err := s.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// wantAt checks which document lives at p; "" is none.
func wantAt(t testing.TB, s model.Store, p model.Path, want model.DocID) {
	t.Helper()
	got, err := s.DocID(p)
	if want == "" {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q holds %q, %v; want %v", p, got, err, fs.ErrNotExist)
		}
		return
	}
	if got != want || err != nil {
		t.Errorf("%q holds %q, %v; want %q", p, got, err, want)
	}
}

func testEmpty(t *testing.T, s model.Store) {
	wantAt(t, s, "N.md", "")
	if h := load(t, s, "nobody"); len(h.Records) > 0 || h.Materialized != 0 {
		t.Errorf("unknown document has the history %+v", h)
	}
	if err := s.Rename("a", "b"); err != nil {
		t.Errorf("rename of nothing: %v", err)
	}
	s.Materialized("nobody", 3, model.ContentSum{1})
}

func testAppendLoad(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	one, two, three := Record(doc, "one"), Record(doc, "two "), Record(doc, "three ")
	one.Author, one.Session = "claude", "s1"
	two.FrontMatter = &model.FrontMatterChange{Before: "---\na: 1\n---\n", After: ""}
	if seq := appendTo(t, s, "id", "a/N.md", one); seq != 1 {
		t.Errorf("first record has number %d, want 1", seq)
	}
	if seq := appendTo(t, s, "id", "a/N.md", two, three); seq != 3 {
		t.Errorf("third record has number %d, want 3", seq)
	}
	h := load(t, s, "id")
	one.Seq, two.Seq, three.Seq = 1, 2, 3
	if want := []model.Record{one, two, three}; !reflect.DeepEqual(h.Records, want) {
		t.Errorf("records are\n%+v, want\n%+v", h.Records, want)
	}
	if got := Text(t, h); got != "three two one" {
		t.Errorf("text is %q", got)
	}
	wantAt(t, s, "a/N.md", "id")
	wantAt(t, s, "a", "")
}

func testAppendRefuses(t *testing.T, s model.Store) {
	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	if _, err := s.Append("", "N.md", rec); err == nil {
		t.Error("a document without an id was kept")
	}
	if _, err := s.Append("id", "N.md"); err == nil {
		t.Error("nothing was kept, and no error said so")
	}
	wantAt(t, s, "N.md", "")
}

func testLoadIsACopy(t *testing.T, s model.Store) {
	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "text")
	appendTo(t, s, "id", "N.md", rec)
	clear(rec.Update)
	clear(load(t, s, "id").Records[0].Update)
	if got := Text(t, load(t, s, "id")); got != "text" {
		t.Errorf("text is %q after its callers scribbled on their copies", got)
	}
}

func testDocumentsMove(t *testing.T, s model.Store) {
	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	appendTo(t, s, "one", "N.md", rec)
	appendTo(t, s, "one", "M.md", rec) // it lives elsewhere now
	wantAt(t, s, "N.md", "")
	wantAt(t, s, "M.md", "one")
	appendTo(t, s, "two", "M.md", rec) // another one took its place
	wantAt(t, s, "M.md", "two")
	if h := load(t, s, "one"); len(h.Records) != 2 {
		t.Errorf("the document that lost its place has %d records, want 2", len(h.Records))
	}
	appendTo(t, s, "one", "Back.md", rec)
	wantAt(t, s, "M.md", "two")
	wantAt(t, s, "Back.md", "one")
}

func testRename(t *testing.T, s model.Store) {
	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	for _, p := range []model.Path{"a/N.md", "a/b/M.md", "a-b/N.md", "a.md", "z/b/M.md"} {
		appendTo(t, s, model.DocID("id "+p), p, rec)
	}
	rename := func(oldPath, newPath model.Path) {
		t.Helper()
		if err := s.Rename(oldPath, newPath); err != nil {
			t.Fatal(err)
		}
	}
	rename("a", "z")
	wantAt(t, s, "z/N.md", "id a/N.md")
	wantAt(t, s, "z/b/M.md", "id a/b/M.md") // over what was there
	wantAt(t, s, "a/N.md", "")
	wantAt(t, s, "a-b/N.md", "id a-b/N.md")
	rename("a.md", "z/N.md")
	wantAt(t, s, "z/N.md", "id a.md")
	rename("z/N.md", "z/N.md")
	wantAt(t, s, "z/N.md", "id a.md")
}

func testRenameIntoItself(t *testing.T, s model.Store) {
	rec := Record(ycrdt.NewDoc(ycrdt.Options{}), "x")
	appendTo(t, s, "one", "a/N.md", rec)
	appendTo(t, s, "two", "a/a/N.md", rec)
	if err := s.Rename("a", "a/a"); err != nil {
		t.Fatal(err)
	}
	wantAt(t, s, "a/a/N.md", "one")
	wantAt(t, s, "a/a/a/N.md", "two")
	wantAt(t, s, "a/N.md", "")
	if err := s.Rename("a/a", "a"); err != nil {
		t.Fatal(err)
	}
	wantAt(t, s, "a/N.md", "one")
	wantAt(t, s, "a/a/N.md", "two")
}

func testMaterialized(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	seq := appendTo(t, s, "id", "N.md", Record(doc, "a"), Record(doc, "b"))
	sum := model.ContentSum{1, 2, 3}
	s.Materialized("id", seq, sum)
	if h := load(t, s, "id"); h.Materialized != seq || h.Sum != sum {
		t.Errorf("materialised is %d, %x; want %d, %x", h.Materialized, h.Sum, seq, sum)
	}
	s.Materialized("id", seq-1, model.ContentSum{9}) // late news
	if h := load(t, s, "id"); h.Materialized != seq || h.Sum != sum {
		t.Errorf("materialised went back to %d, %x", h.Materialized, h.Sum)
	}
	appendTo(t, s, "id", "N.md", Record(doc, "c"))
	if h := load(t, s, "id"); h.Materialized != seq || len(h.Records) != 3 {
		t.Errorf("after another change materialised is %d of %d, want %d of 3", h.Materialized, len(h.Records), seq)
	}
}

func testConcurrent(t *testing.T, s model.Store) {
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			doc := ycrdt.NewDoc(ycrdt.Options{})
			id := model.DocID(fmt.Sprint("doc ", w))
			for i := range each {
				seq, err := s.Append(id, model.Path(id), Record(doc, "x"))
				if err != nil || seq != uint64(i+1) {
					t.Errorf("append %d has number %d, %v", i+1, seq, err)
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		if got := Text(t, load(t, s, model.DocID(fmt.Sprint("doc ", w)))); got != strings.Repeat("x", each) {
			t.Errorf("document %d is %q", w, got)
		}
	}
}

// testLongHistory is long enough for a store that compacts.
func testLongHistory(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	const n = 1000
	recs := make([]model.Record, n)
	authors := 0
	for i := range recs {
		recs[i] = Record(doc, fmt.Sprint(i, " "))
		if i%3 == 0 {
			recs[i].Author = "claude"
			authors++
		}
	}
	for part := range slices.Chunk(recs, 50) {
		seq := appendTo(t, s, "id", "N.md", part...)
		s.Materialized("id", seq, model.ContentSum{byte(seq)})
	}
	h := load(t, s, "id")
	if got, want := Text(t, h), doc.Text("contents").String(); got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	got := 0
	for _, rec := range h.Records {
		if rec.Author != "" {
			got++
		}
	}
	if last := h.Records[len(h.Records)-1].Seq; last != n || got != authors {
		t.Errorf("last record is %d and %d have an author, want %d and %d", last, got, n, authors)
	}
}

func testJournal(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	add := func(id model.DocID, p model.Path, what string, journalled bool) {
		rec := Record(doc, what)
		if journalled {
			rec.Decision = &model.Decision{Batch: what, Verdict: model.Accepted, Before: "b", After: "a"}
		}
		if _, err := s.Append(id, p, rec); err != nil {
			t.Fatal(err)
		}
	}
	add("d1", "A.md", "one", true)
	add("d2", "B.md", "two", false)
	add("d2", "B.md", "three", true)
	add("d1", "A.md", "four", true)
	if err := s.Rename("A.md", "C.md"); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 2, 10} {
		entries, err := s.Journal(limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, fmt.Sprintf("%s %s %d %s", e.Path, e.ID, e.Seq, e.Decision.Batch))
		}
		want := []string{"C.md d1 2 four", "B.md d2 2 three", "C.md d1 1 one"}
		if want = want[:min(limit, len(want))]; !slices.Equal(got, want) {
			t.Errorf("Journal(%d) = %q, want %q", limit, got, want)
		}
	}
}

func testForget(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	journalled := func(batch string) model.Record {
		rec := Record(doc, batch)
		rec.Decision = &model.Decision{Batch: batch, Verdict: model.Accepted}
		return rec
	}
	appendTo(t, s, "kept", "A.md", journalled("one"))
	seq := appendTo(t, s, "gone", "B.md", Record(doc, "two"), journalled("three"))
	s.Materialized("gone", seq, model.ContentSum{1})
	appendTo(t, s, "kept", "A.md", journalled("four"))
	for _, id := range []model.DocID{"gone", "gone", "never"} {
		if err := s.Forget(id); err != nil {
			t.Fatal(err)
		}
	}
	if h := load(t, s, "gone"); len(h.Records) > 0 {
		t.Errorf("%d records of it are left", len(h.Records))
	}
	wantAt(t, s, "B.md", "")
	wantAt(t, s, "A.md", "kept")
	entries, err := s.Journal(10)
	if err != nil || len(entries) != 2 || entries[0].Decision.Batch != "four" || entries[1].Decision.Batch != "one" {
		t.Errorf("the journal holds %+v, %v, want four and one", entries, err)
	}
	appendTo(t, s, "new", "B.md", Record(doc, "five"))
	wantAt(t, s, "B.md", "new")
}

func testAbort(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	appendTo(t, s, "id", "A.md", Record(doc, "kept "))
	kept := Record(doc, "back ")
	kept.Decision = &model.Decision{Batch: "back"}
	seq := appendTo(t, s, "id", "A.md", kept)
	if err := s.Abort("id", seq); err != nil {
		t.Fatal(err)
	}
	if h := load(t, s, "id"); len(h.Records) != 1 || Text(t, h) != "kept " {
		t.Errorf("after an abort %d records, %q", len(h.Records), Text(t, h))
	}
	if list, err := s.Journal(9); err != nil || len(list) > 0 {
		t.Errorf("the journal has what was taken back: %+v, %v", list, err)
	}
	if err := s.Abort("id", seq); err != nil {
		t.Errorf("again: %v", err)
	}
	other := ycrdt.NewDoc(ycrdt.Options{})
	if next := appendTo(t, s, "id", "A.md", Record(other, "more ")); next != seq {
		t.Errorf("the next record is %d, want %d", next, seq)
	}
	first := appendTo(t, s, "new", "B.md", Record(ycrdt.NewDoc(ycrdt.Options{}), "never"))
	if err := s.Abort("new", first); err != nil {
		t.Fatal(err)
	}
	wantAt(t, s, "B.md", "")
	wantAt(t, s, "A.md", "id")
	if h := load(t, s, "new"); len(h.Records) > 0 {
		t.Errorf("%d records of a document that was taken back", len(h.Records))
	}
}

func testUnsettled(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	first := appendTo(t, s, "id", "A.md", Record(doc, "one"))
	want := func(paths ...model.Path) {
		t.Helper()
		if list, err := s.Unsettled(); err != nil || !slices.Equal(list, paths) {
			t.Errorf("unsettled: %q, %v, want %q", list, err, paths)
		}
	}
	want("A.md")
	s.Materialized("id", first, model.ContentSum{})
	want()
	second := appendTo(t, s, "id", "A.md", Record(doc, "two"))
	if err := s.Rename("A.md", "B.md"); err != nil {
		t.Fatal(err)
	}
	want("B.md")
	third := appendTo(t, s, "id", "B.md", Record(doc, "three"))
	s.Materialized("id", second, model.ContentSum{})
	want("B.md")
	if err := s.Abort("id", third); err != nil {
		t.Fatal(err)
	}
	want()
}

func testPlace(t *testing.T, s model.Store) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	first := appendTo(t, s, "id", "A.md", Record(doc, "one"))
	appendTo(t, s, "id", "A.md", Record(doc, "two"))
	save := model.Save{Pre: model.Stamp{Inode: 1}, Post: model.Stamp{Inode: 2, ModTime: 3}, Sum: []byte("sum")}
	if err := s.Place("id", first, save); err != nil {
		t.Fatal(err)
	}
	if h := load(t, s, "id"); h.Records[0].Save == nil || !reflect.DeepEqual(*h.Records[0].Save, save) || h.Records[1].Save != nil {
		t.Errorf("records %+v, want the first with %+v", h.Records, save)
	}
}
