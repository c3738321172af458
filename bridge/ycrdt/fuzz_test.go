package ycrdt

import (
	"bytes"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/tests/need"
)

func seedUpdates(f *testing.F) {
	for _, fx := range readFixtures(f) {
		f.Add(mustHex(fx.State))
		f.Add(mustHex(fx.Updates[len(fx.Updates)-1]))
	}
	f.Add(some(f).EncodeStateAsUpdate(nil))
}

// checkFirst compares the two ways to load an empty document: in one pass, and
// after a check, which a document gets that has a root already.
func checkFirst(t *testing.T, update []byte) {
	t.Helper()
	empty, touched := NewDoc(Options{ClientID: 9}), NewDoc(Options{ClientID: 9})
	touched.Transact(func(tx *Txn) { touched.Text("t").in(tx) })
	gotErr, wantErr := empty.ApplyUpdate(update), touched.ApplyUpdate(update)
	if (gotErr == nil) != (wantErr == nil) {
		t.Errorf("%x: empty document: %v, other: %v", update, gotErr, wantErr)
	}
	verify(t, empty)
	if got, want := empty.EncodeStateAsUpdate(nil), touched.EncodeStateAsUpdate(nil); !bytes.Equal(got, want) {
		t.Errorf("%x:\n got %x\nwant %x", update, got, want)
	}
}

func FuzzApplyUpdate(f *testing.F) {
	seedUpdates(f)
	f.Fuzz(func(t *testing.T, update []byte) {
		checkFirst(t, update)
		before := some(t).EncodeStateAsUpdate(nil)
		var d *Doc
		var err error
		need.Call(t, update, func() {
			d = some(t)
			err = d.ApplyUpdate(update)
		})
		verify(t, d)
		state := d.EncodeStateAsUpdate(nil)
		if err != nil {
			if !bytes.Equal(state, before) {
				t.Error("refused, and changed the document")
			}
			return
		}
		Content(d)
		// Applying it again changes nothing.
		apply(t, d, update)
		if !bytes.Equal(d.EncodeStateAsUpdate(nil), state) {
			t.Errorf("applied twice:\n got %x\nwant %x", d.EncodeStateAsUpdate(nil), state)
		}
		// What waits may overlap with what is there; merging cuts it then, as Yjs does, and a copy need not wait.
		if d.updates.Waiting() == 0 {
			checkCopy(t, d)
		}
		// The document can still be edited.
		d.Transact(func(tx *Txn) {
			d.Text("t").Insert(tx, 3, "new")
			d.Text("t").Delete(tx, 0, 2)
			d.Array("a").Push(tx, 1)
		})
		verify(t, d)
	})
}

func FuzzMergeUpdates(f *testing.F) {
	base := some(f).EncodeStateAsUpdate(nil)
	for _, fx := range readFixtures(f) {
		f.Add(mustHex(fx.State), base, []byte{1, 1, 3})
	}
	f.Fuzz(func(t *testing.T, a, b, sv []byte) {
		var merged []byte
		var err error
		need.Call(t, a, func() { merged, err = MergeUpdates(a, b) })
		if err != nil {
			return
		}
		if _, err := wire.Scan(merged); err != nil {
			t.Errorf("merged update %x: %v", merged, err)
		}
		need.Call(t, a, func() {
			if have, err := DecodeStateVector(sv); err == nil {
				diff := wire.DiffScanned(a, have)
				if _, err := wire.Scan(diff); err != nil {
					t.Errorf("diff %x: %v", diff, err)
				}
			}
		})
	})
}

func FuzzDecodeStateVector(f *testing.F) {
	f.Add([]byte{2, 5, 6, 1, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		need.Call(t, data, func() {
			sv, err := DecodeStateVector(data)
			if err != nil {
				return
			}
			if again, err := DecodeStateVector(sv.Encode()); err != nil || len(again) != len(sv) {
				t.Errorf("decoded again: %v, %v", again, err)
			}
			some(t).EncodeStateAsUpdate(data)
		})
	})
}

func FuzzDecodeSnapshot(f *testing.F) {
	for _, fx := range readFixtures(f) {
		f.Add(mustHex(fx.Snapshot))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		need.Call(t, data, func() {
			snap, err := DecodeSnapshot(data)
			if err != nil {
				return
			}
			again, err := DecodeSnapshot(snap.Encode())
			if err != nil || !again.Equal(snap) || !again.Contains(snap) {
				t.Errorf("decoded again: %v, %v", again, err)
			}
		})
	})
}
