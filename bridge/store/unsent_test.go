package store_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

func TestUnsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := func(want map[model.DocID]uint64) {
		t.Helper()
		if got, err := s.Unsent(); err != nil || !maps.Equal(got, want) {
			t.Errorf("unsent is %v, %v, want %v", got, err, want)
		}
	}
	appendOne := func(id model.DocID, unsent bool) uint64 {
		t.Helper()
		seq, err := s.Append(id, model.Path(id)+".md", model.Record{Update: []byte{0, 0}, Unsent: unsent})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	want(map[model.DocID]uint64{})
	appendOne("a", false)
	first := appendOne("a", true)
	second := appendOne("a", true)
	other := appendOne("b", true)
	want(map[model.DocID]uint64{"a": second, "b": other})
	if err := s.Sent("a", first); err != nil {
		t.Fatal(err)
	}
	want(map[model.DocID]uint64{"a": second, "b": other})
	if err := s.Sent("a", second); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(path, store.Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want(map[model.DocID]uint64{"b": other})
	kept, err := s.DocIDs()
	if slices.Sort(kept); err != nil || !slices.Equal(kept, []model.DocID{"a", "b"}) {
		t.Errorf("kept are %v, %v", kept, err)
	}
}
