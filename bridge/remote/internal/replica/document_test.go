package replica

import (
	"errors"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// memory is a store of one document.
type memory struct {
	model.Store
	records []model.Record
	failed  error
}

func (m *memory) Load(model.DocID) (model.History, error) {
	return model.History{Records: m.records}, nil
}

func (m *memory) Append(_ model.DocID, _ model.Path, records ...model.Record) (uint64, error) {
	if m.failed != nil {
		return 0, m.failed
	}
	m.records = append(m.records, records...)
	return uint64(len(m.records)), nil
}

func (m *memory) RecordFileSeq(model.DocID, uint64, model.ContentSum, model.Stamp) {}
func (m *memory) Sync() error                                                      { return nil }

// alone are the callbacks of a set without a folder.
type alone struct{}

func (alone) Path(model.DocID) string                            { return "" }
func (alone) Changed(*Document)                                  {}
func (alone) FolderReceives(*ycrdt.Doc, []byte) (applied func()) { return func() {} }
func (alone) Unsent(*Document, uint64, bool)                     {}
func (alone) Acknowledged(*Document, uint64)                     {}

func write(t *testing.T, d *Document, text string) (model.Record, error) {
	t.Helper()
	rec := model.Record{Author: "ai"}
	err := d.Change(t.Context(), &rec, func(doc *ycrdt.Doc) error {
		contents := doc.Text(model.ContentsName)
		doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, 0, text) })
		return nil
	})
	return rec, err
}

// A document that this process has changed has the same writer when it is in memory again.
func TestWriterAfterEviction(t *testing.T) {
	store := &memory{}
	s := NewSet(Options{Name: "team", Store: store, Client: 7, Author: "ai", Resync: time.Minute}, alone{})
	d := s.Document("note")
	check := func(when string) {
		t.Helper()
		rec, err := write(t, d, "text")
		if err != nil || rec.Client != 7 || rec.Len < 4 {
			t.Errorf("%s: the record has %d units of client %d, %v", when, rec.Len, rec.Client, err)
		}
	}
	check("first")
	if !d.evict() {
		t.Fatal("not evicted")
	}
	check("after an eviction")
	store.failed = errors.New("disk full")
	if _, err := write(t, d, "text"); err == nil {
		t.Error("a change is made that the store does not have")
	}
	store.failed = nil
	check("after an error of the store")
	clients := make(map[ycrdt.ClientID]uint64)
	if err := d.View(t.Context(), func(doc *ycrdt.Doc, _ time.Time) error {
		clients = doc.StateVector()
		return nil
	}); err != nil || len(clients) != 1 {
		t.Errorf("the document has the clients %v, %v", clients, err)
	}
}

// A cursor is announced in notes only.
func TestCursorInNotes(t *testing.T) {
	s := NewSet(Options{Name: "team", Store: &memory{}, Client: 7, Author: "ai"}, alone{})
	for _, d := range []*Document{s.Folder, s.Drafts, s.Document("note")} {
		if _, err := write(t, d, "text"); err != nil {
			t.Fatal(err)
		}
		if has := s.cursors.notes[d.id] != nil; has != d.Note {
			t.Errorf("%q: cursor %v", d.id, has)
		}
	}
}
