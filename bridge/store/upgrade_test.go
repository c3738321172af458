package store_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/store/storetest"
)

// A state folder that a process of version 2 left when it was killed, with records that
// are in its log alone.
func TestVersion2(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/version2.tar.gz", dir)
	path := filepath.Join(dir, "store.db")
	for range 2 { // the second time it is up to date
		s := open(t, path)
		wantDocument(t, s, "plan", "four three two one ", " ann  bob")
		wantDocument(t, s, "other", "other", "carol")
		if id, err := s.DocID("Folder/Other.md"); id != "other" || err != nil {
			t.Errorf("document %q, %v", id, err)
		}
		wantDecided(t, s)
		closeStore(t, s)
		wantVersion6(t, path)
	}
	for _, name := range []string{"store.db.wal", "store.db.wal.old", "store.db.intents"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// A state folder that a process of version 3 left when it was killed: the checkpoint has a
// change of names, and the log has the rest.
func TestVersion3(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/version3.tar.gz", dir)
	path := filepath.Join(dir, "store.db")
	for range 2 { // the second time it is up to date
		s := open(t, path)
		wantVersion6(t, path)
		wantDocument(t, s, "plan", "four three two one ", " ann bob ")
		wantDocument(t, s, "other", "other", "carol") // without what was taken back
		wantDocument(t, s, "gone", "", "")            // taken back as a whole
		wantDocument(t, s, "nobody", "", "")          // of which only a mark is in the log
		for p, want := range map[model.Path]model.DocID{"New/Plan.md": "plan", "New/Other.md": "other", "Old/Plan.md": "", "Gone.md": ""} {
			if id, err := s.DocID(p); id != want || want != "" && err != nil {
				t.Errorf("%s is of document %q, %v, want %q", p, id, err, want)
			}
		}
		h, err := s.Load("plan")
		if err != nil || h.Materialized != 2 || h.Records[3].Save == nil || h.Records[3].Save.Post.Inode != 4 {
			t.Errorf("history %+v, %v", h, err)
		}
		if h, err := s.Load("nobody"); err != nil || h.Materialized != 0 {
			t.Errorf("a document that is not there: %+v, %v", h, err)
		}
		wantDecided(t, s)
		if unsent, err := s.Unsent(); err != nil || !maps.Equal(unsent, map[model.DocID]uint64{"unsent": 1}) {
			t.Errorf("unsent %v, %v", unsent, err)
		}
		closeStore(t, s)
	}
}

// A state folder that a process of version 4 left when it was killed: it has merged 140 records, and kept no history
// of them; ten more and a change of names are in its log.
func TestVersion4(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/version4.tar.gz", dir)
	path := filepath.Join(dir, "store.db")
	for range 2 { // the second time it is up to date
		s := open(t, path)
		wantVersion6(t, path)
		if id, err := s.DocID("New/Plan.md"); id != "plan" || err != nil {
			t.Errorf("document %q, %v", id, err)
		}
		h, err := s.Load("plan")
		if err != nil || !strings.HasPrefix(storetest.Text(t, h), "149 148 ") || h.Materialized != 140 {
			t.Errorf("%v, materialised %d, text %q", err, h.Materialized, storetest.Text(t, h))
		}
		past, err := s.Past("plan")
		if err != nil {
			t.Fatal(err)
		}
		var known, lost []uint64
		for _, m := range past.Moments {
			if m.Did == nil {
				lost = append(lost, m.Seq)
			} else {
				known = append(known, m.Seq)
			}
		}
		// Of what is merged it is known what ann has done, and not what that was.
		if past.Begin.Seq != 140 || !slices.Equal(lost, []uint64{11, 61, 111}) || len(known) != 10 || known[0] != 141 {
			t.Errorf("the history begins with %d, knows %v and of %v that they were", past.Begin.Seq, known, lost)
		}
		wantDecided(t, s)
		closeStore(t, s)
	}
}

// A state folder that a process of version 5 left when it was killed: a decision and a change of names are in its
// log. A session can be named in it, which outlives the next start.
func TestVersion5(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "testdata/version5.tar.gz", dir)
	path := filepath.Join(dir, "store.db")
	want := model.SessionNote{}
	for range 2 { // the second time it is up to date
		s := open(t, path)
		wantVersion6(t, path)
		wantDocument(t, s, "plan", "two one ", "ann bob")
		if id, err := s.DocID("New/Plan.md"); id != "plan" || err != nil {
			t.Errorf("document %q, %v", id, err)
		}
		if got := s.SessionNote("s1"); got != want {
			t.Errorf("session %+v, want %+v", got, want)
		}
		if want.Name == "" {
			wantDecided(t, s)
		}
		want = model.SessionNote{Name: "tides", Purpose: "mends the tide table"}
		if err := s.Propose(model.ProposalChange{Journal: []model.Record{{Session: "s1", SessionNote: &want}}}); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
	}
}

func wantDocument(t *testing.T, s *store.Store, id model.DocID, text, authors string) {
	t.Helper()
	h, err := s.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range h.Records {
		got = append(got, rec.Author)
	}
	if storetest.Text(t, h) != text || strings.Join(got, " ") != authors {
		t.Errorf("%s: %q by %q, want %q by %q", id, storetest.Text(t, h), got, text, authors)
	}
}

func wantDecided(t *testing.T, s *store.Store) {
	t.Helper()
	if list, err := s.Journal(9); err != nil || len(list) != 1 || list[0].Decision.Batch != "b1" {
		t.Errorf("journal %+v, %v", list, err)
	}
	if list, err := s.Proposals(); err != nil || len(list) != 1 || list[0].ID != "p1" {
		t.Errorf("proposals %+v, %v", list, err)
	}
}

// wantVersion6 checks what an older relayfs finds, which refuses versions that it does not
// know (TestNewerVersion).
func wantVersion6(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	copied := newPath(t)
	if err == nil {
		err = os.WriteFile(copied, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(copied, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket([]byte("meta")).Get([]byte("version")); string(v) != "6" {
			t.Errorf("the file has version %q, want 6", v)
		}
		return nil
	})
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
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, 0o700)
		} else if data, readErr := io.ReadAll(files); readErr != nil {
			err = readErr
		} else {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
