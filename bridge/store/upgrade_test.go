package store_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/storetest"
)

// A state folder that a process of version 2 left when it was killed, with records that
// are in its log alone.
func TestVersion2(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/version2.tar.gz", dir)
	for range 2 { // the second time it is up to date
		s := open(t, filepath.Join(dir, "store.db"))
		for id, want := range map[model.DocID]struct{ text, authors string }{
			"plan":  {"four three two one ", " ann  bob"},
			"other": {"other", "carol"},
		} {
			h, err := s.Load(id)
			if err != nil {
				t.Fatal(err)
			}
			authors := ""
			for i, rec := range h.Records {
				if i > 0 {
					authors += " "
				}
				authors += rec.Author
			}
			if got := storetest.Text(t, h); got != want.text || authors != want.authors {
				t.Errorf("%s: %q by %q, want %q by %q", id, got, authors, want.text, want.authors)
			}
		}
		if id, err := s.DocID("Folder/Other.md"); id != "other" || err != nil {
			t.Errorf("document %q, %v", id, err)
		}
		if list, err := s.Journal(9); err != nil || len(list) != 1 || list[0].Decision.Batch != "b1" {
			t.Errorf("journal %+v, %v", list, err)
		}
		if list, err := s.Proposals(); err != nil || len(list) != 1 || list[0].ID != "p1" {
			t.Errorf("proposals %+v, %v", list, err)
		}
		closeStore(t, s)
	}
	for _, name := range []string{"store.db.wal", "store.db.wal.old", "store.db.intents"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(files)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
