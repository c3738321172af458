package store_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
)

// filling is a disk of the log on which there may be no space.
type filling struct {
	disk.OS
	full atomic.Bool
}

func (d *filling) MakeRoot(path string) (disk.Dir, error) {
	dir, err := d.OS.MakeRoot(path)
	return fillingDir{dir, d}, err
}

type fillingDir struct {
	disk.Dir
	d *filling
}

func (f fillingDir) Open(name string, flag int, perm fs.FileMode) (disk.File, error) {
	file, err := f.Dir.Open(name, flag, perm)
	return fillingFile{file, f.d}, err
}

func (f fillingDir) Rename(name string, to disk.Dir, newName string) error {
	return f.Dir.Rename(name, to.(fillingDir).Dir, newName)
}

type fillingFile struct {
	disk.File
	d *filling
}

func (f fillingFile) WriteAt(b []byte, off int64) (int, error) {
	if f.d.full.Load() {
		return 0, &fs.PathError{Op: "write", Path: "some segment", Err: syscall.ENOSPC}
	}
	return f.File.WriteAt(b, off)
}

// A store has a problem if and only if the last attempt to keep something has failed, where
// asking is an attempt if the one before has failed; and it says since when.
func TestStoreHasAProblem(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := new(filling)
		path := newPath(t)
		s, err := store.Open(path, store.Options{Disk: d, Manual: true})
		if err != nil {
			t.Fatal(err)
		}
		var failed bool
		var before, after time.Time // of the first attempt that failed
		attempt := func(try func()) {
			start := time.Now()
			try()
			if d.full.Load() && !failed {
				before, after = start, time.Now()
			}
			failed = d.full.Load()
		}
		for step := range 60 {
			switch rng.IntN(5) {
			case 0:
				d.full.Store(!d.full.Load())
			case 1:
				attempt(func() { _, err = s.Append("id", "N.md", record(strings.Repeat("x", rng.IntN(3<<20)))) })
				if errors.Is(err, model.ErrNoSpace) != d.full.Load() {
					t.Fatalf("seed %d, step %d: append: %v", seed, step, err)
				}
			case 2:
				if err := s.Sync(); err != nil { // what was appended before
					t.Fatal(err)
				}
			case 3:
				if err := s.Checkpoint(); err != nil { // which is on another disk
					t.Fatal(err)
				}
			case 4:
				var got []model.Problem
				ask := func() { got = s.Problems() }
				if failed {
					attempt(ask)
				} else {
					ask()
				}
				switch {
				case !failed && len(got) == 0:
				case !failed || len(got) != 1 || got[0].Since.Before(before) || got[0].Since.After(after):
					t.Fatalf("seed %d, step %d: problems %v; failed: %v", seed, step, got, failed)
				case got[0].About != "store" || got[0].Text != `changes cannot be stored in "`+path+`": no space left on device; free space on its disk; it is tried again by itself`:
					t.Fatalf("problem is %q", got[0].Text)
				}
			}
		}
		closeStore(t, s)
	}
}

// A checkpoint that cannot be written is a problem, and loses nothing.
func TestCheckpointHasAProblem(t *testing.T) {
	path := newPath(t)
	var file *os.File
	s, err := store.Open(path, store.Options{Manual: true, OpenFile: func(name string, flag int, perm fs.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, perm)
		return file, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append("id", "N.md", record("x")); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	kept, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(kept)
	if err := unix.Dup3(int(readOnly.Fd()), int(file.Fd()), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(); err == nil {
		t.Fatal("a checkpoint is written to a file that cannot be")
	}
	if got := s.Problems(); len(got) != 1 || got[0].About != "checkpoint" {
		t.Errorf("problems %v, want one of the checkpoint", got)
	}
	if err := unix.Dup3(kept, int(file.Fd()), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if got := s.Problems(); len(got) != 0 {
		t.Errorf("problems %v, want none", got)
	}
	closeStore(t, s)
	if h, err := open(t, path).Load("id"); err != nil || len(h.Records) != 1 {
		t.Errorf("%d records, %v; want 1", len(h.Records), err)
	}
}
