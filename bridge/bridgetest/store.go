package bridgetest

import (
	"os"
	"path/filepath"

	"github.com/relayfs/relayfs/bridge/store"
)

type Store = store.Store

// TB is the part of testing.TB that rapid.T also has.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// NewStore returns an empty store without background work.
func NewStore(t TB) *Store { return openStore(t, 0) }

// NewMergingStore is NewStore for a store of which each Checkpoint merges the updates of the documents whose files are
// current.
func NewMergingStore(t TB) *Store { return openStore(t, 1) }

func openStore(t TB, mergeAt int) *Store {
	t.Helper()
	s, err := store.Open(filepath.Join(Scratch(t), "store"), store.Options{NoBackground: true, MergeAt: mergeAt, SegmentSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Scratch returns a new temporary folder. The folder is in memory, where a sync takes no time, if the system has
// /dev/shm.
func Scratch(t TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "relayfs-")
	if err != nil {
		dir, err = os.MkdirTemp("", "relayfs-")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
