package backup_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fill makes a store whose documents have the text.
func fill(t testing.TB, path, text string) {
	s, err := store.Open(path, store.Options{NoBackground: true})
	check(t, err)
	for i := range 3 {
		doc := ycrdt.NewDoc(ycrdt.Options{})
		var rec model.Record
		doc.OnUpdate(func(update []byte) { rec.Update = update })
		doc.Transact(func(tx *ycrdt.Txn) { doc.Text(model.ContentsName).Insert(tx, 0, text) })
		_, err := s.Append(model.DocID(fmt.Sprint(i)), model.Path(fmt.Sprint(i, ".md")), rec)
		check(t, err)
	}
	check(t, s.Close())
}

// textOf is the text of all documents of a store.
func textOf(t testing.TB, path string) (text string) {
	s, err := store.Open(path, store.Options{NoBackground: true})
	check(t, err)
	defer s.Close()
	for i := range 3 {
		h, err := s.Load(model.DocID(fmt.Sprint(i)))
		check(t, err)
		doc := ycrdt.NewDoc(ycrdt.Options{})
		for _, rec := range h.Records {
			check(t, doc.ApplyUpdate(rec.Update))
		}
		text += doc.Text(model.ContentsName).String()
	}
	return text
}

// A damaged backup is either refused with an error about the backup, and nothing is changed, or restored completely.
func TestDamagedBackup(t *testing.T) {
	base := t.TempDir()
	vault := filepath.Join(base, "Notes")
	check(t, os.Mkdir(vault, 0o700), os.WriteFile(filepath.Join(vault, "0.md"), nil, 0o600))
	src, err := source.ParseVault("Notes=" + vault)
	check(t, err)
	from := owner.Folder(filepath.Join(base, "from"))
	blob := bytes.Repeat([]byte("blob "), 1000)
	name := fmt.Sprintf("%x", sha256.Sum256(blob))
	check(t, from.Sub("attachments").Make(), from.Sub("attachments").Create(name, blob))
	fill(t, from.Path("store"), "backed up")
	file := filepath.Join(base, "backup.zip")
	_, err = backup.Write(file, "1", []backup.Folder{{Name: "Notes", Location: vault, Source: src.String(), State: from}}, func(_ backup.Folder, w io.Writer) error {
		s, err := store.Open(from.Path("store"), store.Options{NoBackground: true})
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Copy(w)
	})
	check(t, err)
	good, err := os.ReadFile(file)
	check(t, err)

	randomtest.Check(t, 60, func(t testing.TB, r *rand.Rand) {
		states := t.TempDir()
		state := src.State(states)
		fill(t, filepath.Join(state, "store"), "kept")
		bad := filepath.Join(states, "bad.zip")
		data := good
		if r.IntN(20) > 0 {
			data = randomtest.Damage(r, good)
		}
		check(t, os.WriteFile(bad, data, 0o600))
		var restored bool
		tell := func(err error) {
			if text := err.Error(); !strings.Contains(text, "backup") {
				t.Errorf("it says %q", text)
			}
		}
		before := need.Allocated()
		b, err := backup.Open(bad)
		if err != nil {
			tell(err)
		} else {
			list, err := b.Restore([]source.Source{src}, states, true)
			if restored = err == nil && len(list) == 1; err != nil {
				tell(err)
			}
			check(t, b.Close())
		}
		if n := need.Allocated() - before; n > need.MaxBytes {
			t.Errorf("it allocates %d MB", n>>20)
		}
		if list, err := os.ReadDir(filepath.Join(state, "attachments")); err == nil {
			for _, e := range list {
				if got, err := os.ReadFile(filepath.Join(state, "attachments", e.Name())); err != nil || e.Name() != name || !bytes.Equal(got, blob) {
					t.Errorf("attachment %q has %.20q, %v", e.Name(), got, err)
				}
			}
		}
		want := "kept"
		if restored {
			want = "backed up"
		}
		if got := textOf(t, filepath.Join(state, "store")); got != strings.Repeat(want, 3) {
			t.Errorf("restored: %v; the documents read %q, want %q", restored, got, want)
		}
	})
}
