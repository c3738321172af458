package bridgetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/store"
)

type Store = store.Store

// NewStore returns an empty store without background work.
func NewStore(t testing.TB) *Store { return openStore(t, 0) }

// NewMergingStore is NewStore for a store of which each Checkpoint merges the updates of the documents whose files are
// current.
func NewMergingStore(t testing.TB) *Store { return openStore(t, 1) }

func openStore(t testing.TB, mergeAt int) *Store {
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
func Scratch(t testing.TB) string {
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
