package store_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// crashEnv makes the test binary a process that appends until it is killed.
const crashEnv = "RELAYFS_STORE_CRASH_TEST"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		fmt.Fprintln(os.Stderr, appendForever(path))
		os.Exit(1)
	}
	if path := os.Getenv(openEnv); path != "" {
		if err := openOnce(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t testing.TB, path string) *store.Store {
	t.Helper()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "store") }

// checkpointOf is the file of a store's checkpoint.
func checkpointOf(path string) string { return filepath.Join(path, "checkpoint.db") }

func closeStore(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func record(text string) model.Record {
	return recordOf(ycrdt.NewDoc(ycrdt.Options{}), text)
}

func TestReopen(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	rec := record("kept")
	rec.Author = "claude"
	if _, err := s.Append("id", "N.md", rec); err != nil {
		t.Fatal(err)
	}
	s.RecordFileSeq("id", 1, model.ContentSum{7}, model.Stamp{})
	closeStore(t, s)
	s = open(t, path)
	h, err := s.Load("id")
	if err != nil || textOf(t, h) != "kept" || h.FileSeq != 1 || h.Sum != (model.ContentSum{7}) {
		t.Errorf("history is %+v, %v", h, err)
	}
	if id, err := s.DocID("N.md"); id != "id" || err != nil {
		t.Errorf("N.md holds %q, %v", id, err)
	}
}

// TestCompaction closes the store after many changes, some of a person and some
// of an author: the updates become one, the author's records stay.
func TestCompaction(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for i := range 600 {
		rec := recordOf(doc, fmt.Sprint(i, " "))
		if i%100 == 50 {
			rec.Author = "claude"
		}
		seq, err := s.Append("id", "N.md", rec)
		if err != nil {
			t.Fatal(err)
		}
		if i == 300 || i == 590 { // compacted twice; nine records are not in the file yet
			s.RecordFileSeq("id", seq, model.ContentSum{}, model.Stamp{})
			closeStore(t, s)
			s = open(t, path)
		}
	}
	h, err := s.Load("id")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := textOf(t, h), doc.Text("contents").String(); got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	// The first one, six of the author (50, 150 .. 550), the last merged one, and nine single ones.
	if len(h.Records) != 1+6+1+9 || h.Records[0].Seq != 1 {
		t.Fatalf("%d records are left, want 17, the first one among them", len(h.Records))
	}
	for i, rec := range h.Records[1:7] {
		if rec.Seq != uint64(i*100+51) || rec.Author != "claude" || rec.Len == 0 {
			t.Errorf("record %d of the author is %+v", i, rec)
		}
	}
	if h.FileSeq != 591 || h.Records[7].Seq != 591 {
		t.Errorf("materialised is %d, the last merged record %d, want 591", h.FileSeq, h.Records[7].Seq)
	}
}

// TestCompactionInTheBackground copies the file of an open store, a while after what it was told.
func TestCompactionInTheBackground(t *testing.T) {
	path := newPath(t)
	var data []byte
	synctest.Test(t, func(t *testing.T) {
		s := open(t, path)
		doc := ycrdt.NewDoc(ycrdt.Options{})
		for range 200 {
			seq, err := s.Append("id", "N.md", recordOf(doc, "x"))
			if err != nil {
				t.Fatal(err)
			}
			s.RecordFileSeq("id", seq, model.ContentSum{}, model.Stamp{})
		}
		time.Sleep(time.Minute) // of the bubble's clock
		synctest.Wait()
		var err error
		data, err = os.ReadFile(checkpointOf(path))
		if err != nil {
			t.Fatal(err)
		}
	})
	h, err := open(t, writeStore(t, data)).Load("id")
	if err != nil || h.FileSeq != 200 || len(h.Records) != 2 || textOf(t, h) != strings.Repeat("x", 200) {
		t.Errorf("history is %+v, %v", h, err)
	}
}

// The history of a note that does not change goes by itself, not before its time.
func TestExpiresInTheBackground(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(path, store.Options{History: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		rec := record("text")
		rec.Time = time.Now()
		seq, err := s.Append("id", "N.md", rec)
		if err != nil {
			t.Fatal(err)
		}
		s.RecordFileSeq("id", seq, model.ContentSum{}, model.Stamp{})
		for _, want := range []struct {
			after time.Duration
			begin uint64
		}{{23 * time.Hour, 0}, {27 * time.Hour, 1}} {
			time.Sleep(want.after) // of the bubble's clock
			synctest.Wait()
			if past, err := s.Revisions("id"); err != nil || past.Begin.Seq != want.begin {
				t.Errorf("the history begins after record %d, %v, want %d", past.Begin.Seq, err, want.begin)
			}
		}
		closeStore(t, s)
	})
}

func TestLocked(t *testing.T) {
	path := newPath(t)
	open(t, path)
	_, err := store.Open(path, store.Options{})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("second open: %v, want %v with the path", err, store.ErrLocked)
	}
}

// A store of another version is refused with one sentence, and stays as it is.
func TestOtherVersion(t *testing.T) {
	for _, version := range []string{"1", "8", "99"} {
		path := newPath(t)
		closeStore(t, open(t, path))
		db, err := bolt.Open(checkpointOf(path), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("version"), []byte(version)) })
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(checkpointOf(path))
		_, err = store.Open(path, store.Options{})
		if !errors.Is(err, model.ErrUnknownStore) || !strings.Contains(err.Error(), "its format is "+version+",") || !strings.Contains(err.Error(), "move the store's folder away") {
			t.Errorf("open of version %s: %v, want %v with what to do", version, err, model.ErrUnknownStore)
		}
		if after, _ := os.ReadFile(checkpointOf(path)); !bytes.Equal(before, after) {
			t.Errorf("the file of version %s was changed", version)
		}
	}
}

// TestDamaged opens damaged files: each is an error that says what to do, or is good enough to be used. None is a crash.
func TestDamaged(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	for i := range 200 {
		if _, err := s.Append(model.DocID(fmt.Sprint(i)), model.Path(fmt.Sprint(i, ".md")), record(strings.Repeat("text ", 100))); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	good, err := os.ReadFile(checkpointOf(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("not a store", func(t *testing.T) { wantDamaged(t, []byte(strings.Repeat("hello ", 10000))) })
	t.Run("cut short", func(t *testing.T) { wantDamaged(t, good[:len(good)/3]) })
	t.Run("cut to two pages", func(t *testing.T) { wantDamaged(t, good[:8192]) })
	t.Run("zeroed", func(t *testing.T) {
		wantDamaged(t, append(bytes.Clone(good[:8192]), make([]byte, len(good)-8192)...))
	})
	t.Run("another bbolt file", func(t *testing.T) {
		path := newPath(t)
		db, err := bolt.Open(path, 0o600, nil)
		if err == nil {
			err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(path)
		wantDamaged(t, data)
	})
	t.Run("overwritten in places", func(t *testing.T) {
		randomtest.Check(t, 200, func(t testing.TB, rng *rand.Rand) {
			bad := bytes.Clone(good)
			for range 1 + rng.IntN(4) {
				at := 8192 + rng.IntN(len(bad)-8192-8)
				if rng.IntN(2) == 0 {
					at = at&^4095 + rng.IntN(64) // in the header or the first elements of a page
				}
				if rng.IntN(2) == 0 {
					bad[at] = byte(rng.Uint32())
				} else {
					binary.LittleEndian.PutUint64(bad[at:], rng.Uint64()>>rng.IntN(64))
				}
			}
			useDamaged(t, bad)
		})
	})
}

// Check finds what no reader of a single value does.
func TestCheck(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	if _, err := s.Append("id", "N.md", record("text")); err != nil {
		t.Fatal(err)
	}
	if err := store.Check(path); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a store that is open: %v, want %v", err, store.ErrLocked)
	}
	closeStore(t, s)
	if err := store.Check(path); err != nil {
		t.Errorf("a good store: %v", err)
	}
	good, err := os.ReadFile(checkpointOf(path))
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(*bolt.Tx) error{
		"a document that is not listed as unsettled": func(tx *bolt.Tx) error { return tx.Bucket([]byte("unsettled")).Delete([]byte("id")) },
		"one that is listed and not there":           func(tx *bolt.Tx) error { return tx.Bucket([]byte("unsettled")).Put([]byte("other"), nil) },
		"a path of another document":                 func(tx *bolt.Tx) error { return tx.Bucket([]byte("paths")).Put([]byte("M.md"), []byte("id")) },
		"a journal entry that is cut off":            func(tx *bolt.Tx) error { return tx.Bucket([]byte("journal")).Put([]byte("12345678"), []byte{0xa3}) },
	} {
		path := writeStore(t, good)
		db, err := bolt.Open(checkpointOf(path), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(spoil), db.Close()); err != nil {
			t.Fatal(err)
		}
		if err := store.Check(path); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: %v, want %v", what, err, store.ErrDamaged)
		}
	}
}

func writeStore(t testing.TB, data []byte) string {
	t.Helper()
	path := newPath(t)
	err := os.Mkdir(path, 0o700)
	if err := errors.Join(err, os.WriteFile(checkpointOf(path), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantDamaged(t testing.TB, data []byte) {
	t.Helper()
	path := writeStore(t, data)
	_, err := store.Open(path, store.Options{})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move its folder away") {
		t.Errorf("open: %v, want %v, the path and what to do", err, store.ErrDamaged)
	}
}

// useDamaged does with a damaged file what a process does.
func useDamaged(t testing.TB, data []byte) {
	t.Helper()
	s, err := store.Open(writeStore(t, data), store.Options{})
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("open: %v, want %v", err, store.ErrDamaged)
		}
		return
	}
	for i := range 200 {
		id := model.DocID(fmt.Sprint(i))
		_, err := s.Load(id)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("load: %v", err)
		}
		if err != nil && !slices.ContainsFunc(s.Problems(), func(p model.Problem) bool { return p.About == model.AboutDamage }) {
			t.Errorf("problems are %v after %v", s.Problems(), err)
		}
		if i%20 == 0 {
			_, _ = s.Append(id, model.Path(fmt.Sprint(i, ".md")), record("more")) // no crash is all that is asked
		}
	}
	_ = s.Rename("1.md", "a/1.md")
	if err := s.Check(); err != nil && !errors.Is(err, store.ErrDamaged) {
		t.Errorf("check: %v", err)
	}
	_ = s.Close()
}

func TestNoSpace(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("relayfs-test", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	s := open(t, filepath.Join(dir, "store"))
	kept := 0
	for i := 0; ; i++ {
		_, err := s.Append("id", "N.md", record(strings.Repeat("x", 10000)))
		if err != nil {
			if !errors.Is(err, model.ErrNoSpace) {
				t.Errorf("append on a full disk: %v, want %v", err, model.ErrNoSpace)
			}
			break
		}
		if kept++; kept > 1000 {
			t.Fatal("the disk does not fill up")
		}
	}
	if h, err := s.Load("id"); err != nil || len(h.Records) != kept {
		t.Errorf("%d records are kept, %v; want %d", len(h.Records), err, kept)
	}
	closeStore(t, s)
	if h, err := open(t, filepath.Join(dir, "store")).Load("id"); err != nil || len(h.Records) != kept {
		t.Errorf("after reopening %d records are kept, %v; want %d", len(h.Records), err, kept)
	}
}

// appendForever appends to four documents at once and prints each append once
// it is acknowledged. What is appended follows from document and number.
func appendForever(path string) error {
	s, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	var out sync.Mutex
	errs := make(chan error)
	for i := range 4 {
		go func() {
			id := model.DocID(fmt.Sprint("doc", i))
			h, err := s.Load(id)
			n := len(h.Records)
			for ; err == nil; n++ {
				var seq uint64
				seq, err = s.Append(id, model.Path(id), record(crashText(id, n+1)))
				out.Lock()
				fmt.Println(id, seq)
				out.Unlock()
			}
			errs <- err
		}()
	}
	return <-errs
}

func crashText(id model.DocID, seq int) string {
	return fmt.Sprint(id, " ", seq, strings.Repeat(".", seq%300))
}

// TestKill kills a process that appends, again and again, at random moments: every append that was acknowledged is there.
func TestKill(t *testing.T) {
	path := newPath(t)
	acked := make(map[model.DocID]uint64)
	for range 20 {
		runAndKill(t, path, time.Duration(10+rand.IntN(80))*time.Millisecond, acked)
		checkAcked(t, path, acked)
	}
	all := uint64(0)
	for _, n := range acked {
		all += n
	}
	if len(acked) != 4 || all < 300 { // beside other tests, some milliseconds each
		t.Errorf("acknowledged is only %v", acked)
	}
	t.Logf("20 kills among %d appends", all)
}

// runAndKill notes what the process acknowledged. The time begins with the first acknowledgement.
func runAndKill(t testing.TB, path string, after time.Duration, acked map[model.DocID]uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var kill *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if kill == nil {
			kill = time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		var id model.DocID
		var seq uint64
		if n, _ := fmt.Sscan(lines.Text(), &id, &seq); n == 2 {
			acked[id] = max(acked[id], seq)
		}
	}
	_ = cmd.Wait() // it was killed
}

func checkAcked(t testing.TB, path string, acked map[model.DocID]uint64) {
	t.Helper()
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for id, seq := range acked {
		h, err := s.Load(id)
		if err != nil || uint64(len(h.Records)) < seq {
			t.Fatalf("%s has %d records, %v; %d were acknowledged", id, len(h.Records), err, seq)
		}
		for i, rec := range h.Records {
			got := textOf(t, model.History{Records: []model.Record{rec}})
			if got != crashText(id, i+1) {
				t.Errorf("%s record %d is %q", id, i+1, got)
			}
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			s := open(b, newPath(b))
			rec := record("some words that somebody wrote")
			b.SetParallelism((writers + 1) / 2) // times GOMAXPROCS
			if writers == 1 {
				for b.Loop() {
					if _, err := s.Append("id", "N.md", rec); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.Append("id", "N.md", rec); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkManyRecords prints how much longer it takes to store eight times as many records of
// one note, in checkpoints of some hundred.
func BenchmarkManyRecords(b *testing.B) {
	keep := func(n int) time.Duration {
		s := open(b, newPath(b))
		doc := ycrdt.NewDoc(ycrdt.Options{})
		start := time.Now()
		for i := range uint64(n) {
			rec := recordOf(doc, "word ")
			rec.Author = "ann"
			if _, err := s.Append("id", "N.md", rec); err != nil {
				b.Fatal(err)
			}
			s.RecordFileSeq("id", i+1, model.ContentSum{1}, model.Stamp{})
			if i%200 == 0 {
				if err := s.Checkpoint(); err != nil {
					b.Fatal(err)
				}
			}
		}
		return time.Since(start)
	}
	for b.Loop() {
		b.ReportMetric(float64(keep(16_000))/float64(keep(2_000)), "x-for-8x")
	}
}

// What was taken back stays away, also if the process is killed right after, and the checkpoint had it already.
func TestAbortAfterACheckpoint(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	if _, err := s.Append("id", "N.md", record("one")); err != nil {
		t.Fatal(err)
	}
	seq, err := s.Append("id", "N.md", record("two"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Journal(1); err != nil { // writes a checkpoint
		t.Fatal(err)
	}
	if err := s.Abort("id", seq); err != nil {
		t.Fatal(err)
	}
	killed := newPath(t)
	if err := errors.Join(os.CopyFS(filepath.Dir(killed), os.DirFS(filepath.Dir(path)))); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{s, open(t, killed)} {
		if h, err := s.Load("id"); err != nil || len(h.Records) != 1 {
			t.Errorf("%d records, %v, want 1", len(h.Records), err)
		}
	}
}

// To ask for the journal, the proposals, what is unsent and what is kept writes nothing, and tells what the log alone has.
func TestAskingWritesNothing(t *testing.T) {
	commits := 0
	s, err := store.Open(newPath(t), store.Options{NoBackground: true, Committed: func() { commits++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := model.DocID("d")
	_, err = s.Append(id, "N.md", model.Record{Update: []byte{0, 0}, Time: time.Now(), Unsent: true, Decision: &model.Decision{}})
	err = errors.Join(err, s.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{{ID: "p", Time: time.Now()}}}))
	if err != nil {
		t.Fatal(err)
	}
	before := commits
	for range 2 { // what was asked for is not kept
		journal, err := s.Journal(9)
		if err != nil || len(journal) != 1 || journal[0].Path != "N.md" {
			t.Errorf("journal %+v, %v", journal, err)
		}
		proposals, err := s.Proposals()
		if err != nil || len(proposals) != 1 {
			t.Errorf("proposals %+v, %v", proposals, err)
		}
		unsent, err := s.Unsent()
		if err != nil || len(unsent) != 1 || unsent[id] != 1 {
			t.Errorf("unsent %v, %v", unsent, err)
		}
		kept, err := s.DocIDs()
		if err != nil || len(kept) != 1 {
			t.Errorf("kept %v, %v", kept, err)
		}
	}
	if commits != before {
		t.Errorf("%d checkpoints were written", commits-before)
	}
}
