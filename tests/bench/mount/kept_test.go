//go:build linux

package mount

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const storeName = "store"

// mountingKept measures how long it takes to mount a vault whose store has many documents.
func (b *bench) mountingKept(t *testing.T) {
	vault, state := b.Path("Kept"), "RELAYFS_STATE="+b.Path("state of Kept")
	makeVault(t, vault, 10, 600)
	b.mount(t, vault, state).end() // creates the state folder
	found, err := filepath.Glob(b.Path("state of Kept", "vaults", "[^.]*"))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("state folders %q", found)
	}
	fillStore(t, filepath.Join(found[0], storeName), *big)
	start := time.Now()
	m := b.mount(t, vault, state)
	took, memory := time.Since(start), m.memory(t)
	limit(fmt.Sprintf("%d documents kept, ready after", *big), took.Round(time.Millisecond).String(), "0.3s", took > 300*time.Millisecond)
	limit("  memory then", megabytes(memory), "80 MB", memory > 80<<20)
}

func fillStore(t *testing.T, path string, n int) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	s, err := store.Open(path, store.Options{NoBackground: true})
	must(t, err)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(func(tx *ycrdt.Txn) { doc.Text(model.ContentsName).Insert(tx, 0, string(noteText(1, 1000))) })
	text := model.Record{Update: doc.EncodeStateAsUpdate(nil)}
	for i := range n {
		word := model.Record{Update: model.EmptyUpdate(), Author: "claude", Session: "0123456789abcdef", Time: time.Unix(int64(i), 0)}
		id := model.DocID(fmt.Sprintf("%08x-1b4e-4d7a-9c53-%012d", uint32(i)*2654435761, i)) // as random as real document IDs
		seq, err := s.Append(id, model.Path(noteFolder(i)+"/"+noteName(i)), text, word, word)
		must(t, err)
		s.RecordFileSeq(id, seq, model.ContentSum{byte(i)}, model.Stamp{})
		if i%5000 == 4999 {
			must(t, s.Checkpoint())
		}
	}
	must(t, s.Close())
}
