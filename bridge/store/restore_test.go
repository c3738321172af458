package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// fill appends some records of a document, settled but for the last one, and moves it.
func fill(t testing.TB, s *store.Store, words string, now time.Time) {
	t.Helper()
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for i := range 300 {
		rec := recordOf(doc, fmt.Sprint(words, i, " "))
		rec.Author, rec.Time = []string{"", "ann"}[i%2], now.Add(time.Duration(i)*time.Minute)
		seq, err := s.Append("plan", "Plan.md", rec)
		if err != nil {
			t.Fatal(err)
		}
		if i < 299 {
			s.RecordFileSeq("plan", seq, model.ContentSum{byte(i)}, model.Stamp{})
		}
	}
	err := s.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{{ID: words, Rel: "x", Time: now}}, Journal: []model.Record{{Time: now, Decision: &model.Decision{Batch: words}}}})
	if err := errors.Join(err, s.Rename("Plan.md", model.Path(words+".md"))); err != nil {
		t.Fatal(err)
	}
}

// told is everything that a store tells, as text.
func told(t testing.TB, s *store.Store) string {
	t.Helper()
	var b strings.Builder
	for _, id := range []model.DocID{"plan", "other"} {
		h, err := s.Load(id)
		past, err2 := s.Revisions(id)
		fmt.Fprintf(&b, "%s %d %q %+v %v\n", id, h.FileSeq, textOf(t, h), past.Moves, errors.Join(err, err2))
		for _, m := range past.Revisions {
			fmt.Fprintln(&b, m.Seq, m.Author, m.Time, m.Units.Encode())
		}
	}
	for _, p := range []model.Path{"old.md", "new.md", "Plan.md"} {
		id, _ := s.DocID(p)
		fmt.Fprintln(&b, p, id)
	}
	journal, err1 := s.Journal(100)
	proposals, err2 := s.Proposals()
	unsent, err3 := s.Unsent()
	text, err4 := json.Marshal([]any{journal, proposals, unsent})
	fmt.Fprintf(&b, "%s %v", text, errors.Join(err1, err2, err3, err4))
	return b.String()
}

// shorter has the beginning of every line.
func shorter(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%.120s\n", strings.TrimSpace(line))
	}
	return b.String()
}

var longAgo = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

// What was copied while changes went on is the store at one moment; what was appended since is not in it.
func TestCopy(t *testing.T) {
	s := open(t, newPath(t))
	fill(t, s, "old", longAgo)
	want := told(t, s)
	var copied bytes.Buffer
	if err := s.Copy(&copied); err != nil {
		t.Fatal(err)
	}
	if got := told(t, s); got != want {
		t.Error("a copy has changed what the store says")
	}
	if _, err := s.Append("other", "Other.md", record("later")); err != nil {
		t.Fatal(err)
	}
	c := open(t, writeStore(t, copied.Bytes()))
	if got := told(t, c); got != want {
		t.Errorf("the copy says\n%.3000s\nwant\n%.3000s", got, want)
	}
	closeStore(t, c)
	closeStore(t, s)
}

// A writer that is slow does not hold up saves, and neither the questions that saves ask.
func TestCopyHoldsNobodyUp(t *testing.T) {
	s := open(t, newPath(t))
	defer closeStore(t, s)
	fill(t, s, "old", longAgo)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Copy(w) }()
	if _, err := r.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	for i := range 200 { // more than bbolt has mapped
		id := model.DocID(fmt.Sprint("doc", i))
		if _, err := s.Append(id, model.Path(id), model.Record{Update: make([]byte, 64<<10)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load("plan"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Journal(9); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// What a quarter of the checkpoint has free goes back to the disk by itself, and costs nothing that is kept.
func TestShrinks(t *testing.T) {
	path := newPath(t)
	size := func() int64 {
		info, err := os.Stat(checkpointOf(path))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	var full int64
	var room atomic.Uint64
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(path, store.Options{FreeSpace: func(string) (uint64, error) { return room.Load(), nil }})
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s, "old", longAgo)
		for i := range 200 { // which leave room behind
			id := model.DocID(fmt.Sprint("doc", i))
			if _, err := s.Append(id, model.Path(id), model.Record{Update: make([]byte, 64<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		full = size()
		for i := range 200 {
			if err := s.Abort(model.DocID(fmt.Sprint("doc", i)), 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute) // of the bubble's clock
		synctest.Wait()
		if got := size(); got < full {
			t.Errorf("without room for a copy the checkpoint has %d bytes of %d", got, full)
		}
		room.Store(1 << 30)
		if _, err := s.Append("plan", "old.md", record("more")); err != nil {
			t.Fatal(err)
		}
		want := told(t, s)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := size(); got > full-200*64<<10 {
			t.Errorf("the checkpoint has %d bytes of %d", got, full)
		}
		if got := told(t, s); got != want {
			t.Errorf("the store says\n%s\nwant\n%s", shorter(got), shorter(want))
		}
		if _, err := s.Append("plan", "old.md", record("after")); err != nil { // into the new file
			t.Fatal(err)
		}
		closeStore(t, s)
	})
	if err := os.WriteFile(checkpointOf(path)+".smaller", []byte("left by a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	defer closeStore(t, s)
	if h, err := s.Load("plan"); err != nil || h.Records[len(h.Records)-1].Seq != 302 {
		t.Errorf("the newest record is %d, %v, want 302", h.Records[len(h.Records)-1].Seq, err)
	}
	if _, err := os.Stat(checkpointOf(path) + ".smaller"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash left: %v, want that it is gone", err)
	}
}

// bridged gives bbolt real files for the checkpoints on a simulated disk.
type bridged struct {
	t     testing.TB
	disk  *disktest.Disk
	dir   string
	names map[string]string // of real files, by their paths on the disk
}

func newBridged(t testing.TB, d *disktest.Disk) *bridged {
	return &bridged{t, d, bridgetest.Scratch(t), make(map[string]string)}
}

func (b *bridged) options() store.Options {
	return store.Options{Disk: b.disk, OpenFile: b.openFile, Committed: b.committed, NoBackground: true}
}

func (b *bridged) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	file := filepath.Join(b.dir, strings.ReplaceAll(name, "/", "_"))
	b.names[name] = file
	if err := os.WriteFile(file, []byte(b.disk.Person().Files("/state")[name]), 0o600); err != nil {
		return nil, err
	}
	return os.OpenFile(file, flag, perm)
}

// committed puts what bbolt has committed on the simulated disk, durably.
func (b *bridged) committed() {
	for name, file := range b.names {
		data, err := os.ReadFile(file)
		if err == nil && b.disk.Person().Files("/state")[name] != string(data) {
			err = b.disk.Person().Save(name, string(data))
		}
		if err != nil {
			b.t.Error(err)
		}
	}
}

// Wherever a restore is stopped, by a kill or a power cut, the store is the old one or the
// copy, and it is the copy if the restore had ended. What was set aside is the old one.
func TestRestoreStopped(t *testing.T) {
	need.Plain(t)
	source := open(t, newPath(t))
	fill(t, source, "old", longAgo)
	var backup bytes.Buffer
	if err := source.Copy(&backup); err != nil {
		t.Fatal(err)
	}
	closeStore(t, source)
	path := newPath(t)
	if _, err := store.Restore(path, bytes.NewReader(backup.Bytes()), store.Options{}); err != nil {
		t.Fatal(err)
	}
	whole := open(t, path)
	wantCopy := told(t, whole)
	closeStore(t, whole)
	if !strings.HasPrefix(wantCopy, "plan 300 ") {
		t.Errorf("what was restored is %q; the file is to have had all of it", wantCopy[:20])
	}

	before := disktest.New(time.Now, disktest.Volume{Path: "/"})
	root, err := before.MakeRoot("/state")
	if err != nil {
		t.Fatal(err)
	}
	top, err := before.OpenRoot("/")
	if err := errors.Join(err, root.Sync(), top.Sync()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open("/state/store", newBridged(t, before).options())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, "new", longAgo.AddDate(1, 0, 0))
	for range 20 { // frames of it would continue the copy's
		if _, err := s.Append("other", "Other.md", recordOf(ycrdt.NewDoc(ycrdt.Options{}), "more ")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sync(); err != nil { // the log is ahead of the checkpoint
		t.Fatal(err)
	}
	wantOld := told(t, s)
	before = before.Killed()

	var aside string
	restore := func(d *disktest.Disk) (err error) {
		aside, err = store.Restore("/state/store", bytes.NewReader(backup.Bytes()), newBridged(t, d).options())
		return err
	}
	check := func(d *disktest.Disk, ended bool, what string) {
		t.Helper()
		s, err := store.Open("/state/store", newBridged(t, d).options())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer s.Close()
		switch got := told(t, s); {
		case got == wantCopy:
		case ended:
			t.Fatalf("%s: the restore has ended, and the store is not the copy but\n%s", what, shorter(got))
		case got != wantOld:
			t.Fatalf("%s: the store says\n%s\nwhich is neither the old one\n%s\nnor the copy", what, shorter(got), shorter(wantOld))
		}
	}
	stopped := errors.New("stopped")
	states := 0
	for at := 1; ; at++ {
		d := before.Killed()
		var left *disktest.Disk
		calls := 0
		d.Before(func(disktest.Call) error {
			if calls++; calls < at {
				return nil
			}
			if left == nil {
				left = d.Killed()
			}
			return stopped
		})
		err := restore(d)
		if left == nil {
			if err != nil {
				t.Fatal(err)
			}
			left = d.Killed()
		}
		for cut := range left.PowerCuts(30) {
			check(cut, err == nil, fmt.Sprintf("power cut before call %d", at))
			states++
		}
		check(left, err == nil, fmt.Sprintf("killed before call %d", at))
		if err == nil {
			old, err := store.Open("/state/"+aside, newBridged(t, left).options())
			if err != nil {
				t.Fatal(err)
			}
			if got := told(t, old); got != wantOld {
				t.Errorf("what was set aside says\n%s\nwant\n%s", shorter(got), shorter(wantOld))
			}
			closeStore(t, old)
			t.Logf("%d calls, %d states", at-1, states)
			return
		}
	}
}

// A copy that is damaged changes nothing; a store that is damaged is set aside.
func TestRestoreChecks(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	fill(t, s, "new", longAgo)
	want := told(t, s)
	closeStore(t, s)
	data, err := os.ReadFile(checkpointOf(path))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	for i := range damaged {
		damaged[i] ^= byte(i)
	}
	for _, bad := range [][]byte{nil, data[:len(data)/2], damaged} {
		if _, err := store.Restore(path, bytes.NewReader(bad), store.Options{}); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%d damaged bytes: %v, want %v", len(bad), err, store.ErrDamaged)
		}
	}
	s = open(t, path)
	if got := told(t, s); got != want {
		t.Error("a restore that was refused has changed the store")
	}
	closeStore(t, s)

	if err := os.WriteFile(checkpointOf(path), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	aside, err := store.Restore(path, bytes.NewReader(data), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	defer closeStore(t, s)
	if got := told(t, s); got[len("plan 300"):] != want[len("plan 299"):] {
		t.Error("the damaged store is not restored")
	}
	if got, err := os.ReadFile(checkpointOf(filepath.Join(filepath.Dir(path), aside))); err != nil || !bytes.Equal(got, damaged) {
		t.Errorf("the damaged file was not set aside: %v", err)
	}
}
