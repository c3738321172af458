package store_test

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

// Saves do not wait for a read of a long journal. A busy machine may delay one, so one read of several without a wait will do.
func TestSavesBesideALongJournal(t *testing.T) {
	s, err := store.Open(newPath(t), store.Options{NoBackground: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rec := record("word")
	rec.Decision = &model.Decision{Batch: "b"}
	recs := make([]model.Record, 1000)
	for i := range recs {
		recs[i] = rec
	}
	const decisions = 5_000
	for i := range decisions / len(recs) {
		_, err := s.Append(model.DocID("d"+string(rune('a'+i))), "N.md", recs...)
		if err == nil && i%2 == 0 { // the rest is in the frames after the checkpoint
			err = s.Checkpoint()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	waited := true
	for range 5 {
		var entries []model.JournalEntry
		done, read := make(chan time.Duration), time.Duration(0)
		start := time.Now()
		go func() {
			entries, err = s.Journal(decisions)
			done <- time.Since(start)
		}()
		saves, longest := 0, time.Duration(0)
		for ; read == 0; saves++ {
			began := time.Now()
			if _, err := s.Append("other", "O.md", record("word")); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, time.Since(began))
			select {
			case read = <-done:
				t.Logf("the journal took %v; %d saves, the longest %v", read, saves, longest)
			default:
			}
		}
		if err != nil || len(entries) != decisions {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		waited = waited && longest > read/2
	}
	if waited {
		t.Error("saves wait for the journal")
	}
}
