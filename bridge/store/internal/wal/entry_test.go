package wal

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

func entries(t testing.TB) []*Entry {
	change := &Entry{Kind: Change, ID: "id", Path: "a/N.md", Seq: 7, Records: []model.Record{
		{Update: []byte{1, 2}, Author: "ann", Time: time.Unix(1, 2).UTC(), Unsent: true},
		{Update: []byte{3}, Decision: &model.Decision{Batch: "b", Reason: "no UTF-8: \xff"}},
	}}
	change.Number()
	return []*Entry{
		change,
		{Kind: Abort, ID: "id", Seq: 1},
		{Kind: FileMark, ID: "id", Seq: 300, Sum: model.ContentSum{1, 2, 3}},
		{Kind: Proposals, Proposals: model.ProposalChange{Removed: []string{"p"}}},
		{Kind: Sent, ID: "id", Seq: 2},
		{Kind: PendingSave, ID: "id", Seq: 2, Save: model.Save{Post: model.Stamp{Inode: 3}, Sum: []byte{4}}},
		{Kind: Move, Moves: []DocMove{{"one", "a"}, {"two", "b/ö"}}, Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range entries(t) {
		body, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want.LSN = 9
		if got, err := Decode(9, body); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("kind %d: %+v, %v, want %+v", want.Kind, got, err, want)
		}
	}
}

// FuzzDecode checks that what is no frame is an error, and that what is one stays the same.
func FuzzDecode(f *testing.F) {
	for _, e := range entries(f) {
		body, err := e.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := Decode(1, body)
		if err != nil {
			return
		}
		one, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if e, err = Decode(1, one); err != nil {
			t.Fatal(err)
		}
		if two, err := e.Encode(); err != nil || !bytes.Equal(one, two) {
			t.Errorf("%q, %v, want %q", two, err, one)
		}
	})
}
