package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// longLived is a store with a note that was changed many times, each time by a word, by a
// person and an agent in turn, with minutes between.
func longLived(b *testing.B, edits int) *store.Store {
	b.Helper()
	path := filepath.Join(b.TempDir(), "store.db")
	s, err := store.Open(path, store.Options{NoBackground: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("contents")
	for i := range edits {
		rec := model.Record{Author: []string{"", "claude"}[i%2], Time: time.Now().Add(time.Duration(i-edits) * time.Minute)}
		rec.Client, rec.Clock = uint64(doc.ClientID()), doc.StateVector()[doc.ClientID()]
		doc.OnUpdate(func(u []byte) { rec.Update = u })
		size := text.Len()
		at := i * 7919 % (size + 1) / 2
		doc.Transact(func(tx *ycrdt.Txn) {
			if size > 4000 {
				text.Delete(tx, at, 10)
			}
			text.Insert(tx, at, fmt.Sprintf("word %d, ", i))
		})
		doc.OnUpdate(nil)
		rec.Len = doc.StateVector()[doc.ClientID()] - rec.Clock
		seq, err := s.Append(id, note, rec)
		if err != nil {
			b.Fatal(err)
		}
		if i%50 == 49 || i == edits-1 {
			s.RecordFileSeq(id, seq, model.ContentSum{}, model.Stamp{})
			if err := s.Checkpoint(); err != nil {
				b.Fatal(err)
			}
		}
	}
	info, err := os.Stat(filepath.Join(path, "checkpoint.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d edits: %d KB in the checkpoint", edits, info.Size()>>10)
	return s
}

// BenchmarkLongHistory measures what 'relayfs history' and 'relayfs show' do of a note with 10 000 changes.
func BenchmarkLongHistory(b *testing.B) {
	s := longLived(b, 10_000)
	read := func(b *testing.B) *history.History {
		past, err := s.Revisions(id)
		if err != nil {
			b.Fatal(err)
		}
		h, err := history.New(past)
		if err != nil {
			b.Fatal(err)
		}
		return h
	}
	b.Run("history", func(b *testing.B) {
		for b.Loop() {
			if n := len(read(b).Entries()); n < 9000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("show", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := read(b).At(history.Point{Entry: 5000}, diffwrap.RawView); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Load(id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
