//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const storeName = "store"

// mountingKept measures how long it takes to mount a vault whose store has many documents.
func (b *bench) mountingKept() error {
	if b.big == 0 {
		return nil
	}
	vault := filepath.Join(b.work, "Kept")
	if err := makeVault(vault, 10, 600); err != nil {
		return err
	}
	m, err := b.mount(vault, "") // creates the state folder
	if err != nil {
		return err
	}
	m.end()
	found, err := filepath.Glob(filepath.Join(b.work, "state of Kept", "vaults", "[^.]*"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("state folders %q, %w", found, err)
	}
	path := filepath.Join(found[0], storeName)
	if err := fillStore(path, b.big); err != nil {
		return err
	}
	start := time.Now()
	if m, err = b.mount(vault, ""); err != nil {
		return err
	}
	defer m.end()
	ready := time.Since(start)
	memory, err := m.memory()
	if err != nil {
		return err
	}
	limit(fmt.Sprintf("%d documents kept, ready after", b.big), ready.Round(time.Millisecond).String(), "0.3s", ready > 300*time.Millisecond)
	limit("  memory then", megabytes(memory), "80 MB", memory > 80<<20)
	return nil
}

func fillStore(path string, n int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	s, err := store.Open(path, store.Options{NoBackground: true})
	if err != nil {
		return err
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(func(tx *ycrdt.Txn) { doc.Text(model.ContentsName).Insert(tx, 0, string(noteText(1, 1000))) })
	text := model.Record{Update: doc.EncodeStateAsUpdate(nil)}
	for i := range n {
		word := model.Record{Update: model.EmptyUpdate(), Author: "claude", Session: "0123456789abcdef", Time: time.Unix(int64(i), 0)}
		id := model.DocID(fmt.Sprintf("%08x-1b4e-4d7a-9c53-%012d", uint32(i)*2654435761, i)) // as random as real document IDs
		seq, err := s.Append(id, model.Path(noteFolder(i)+"/"+noteName(i)), text, word, word)
		if err != nil {
			return err
		}
		s.RecordFileSeq(id, seq, model.ContentSum{byte(i)}, model.Stamp{})
		if i%5000 == 4999 {
			if err := s.Checkpoint(); err != nil {
				return err
			}
		}
	}
	return s.Close()
}
