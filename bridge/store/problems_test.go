package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// filling is a disk of the log on which there may be little space.
type filling struct {
	disk.OS
	room atomic.Int64 // for one write
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
	if int64(len(b)) > f.d.room.Load() {
		return 0, &fs.PathError{Op: "write", Path: "some segment", Err: syscall.ENOSPC}
	}
	return f.File.WriteAt(b, off)
}

// A store has a problem if and only if the last attempt to keep something has failed, where what is smaller than that is no
// attempt, and asking is one if the last has failed; and it says since when.
func TestStoreHasAProblem(t *testing.T) {
	need.Plain(t)
	const small, large, much = 100, 2 << 20, 1 << 30
	randomtest.Check(t, 20, func(t testing.TB, rng *rand.Rand) {
		d := new(filling)
		d.room.Store(much)
		path := newPath(t)
		s, err := store.Open(path, store.Options{Disk: d, NoBackground: true})
		if err != nil {
			t.Fatal(err)
		}
		neededBytes := 0            // the largest size that has failed
		var before, after time.Time // of the first attempt that failed
		for step := range 80 {
			room := int(d.room.Load())
			switch rng.IntN(5) {
			case 0:
				d.room.Store([]int64{0, 50 * small, much}[rng.IntN(3)])
			case 1:
				size := []int{small, large}[rng.IntN(2)] + 16*step // a later one is larger, whatever goes with it
				start := time.Now()
				_, err = s.Append("id", "N.md", record(strings.Repeat("x", size)))
				if errors.Is(err, model.ErrNoSpace) != (size > room) {
					t.Fatalf("step %d: append: %v", step, err)
				}
				switch {
				case err == nil && size >= neededBytes:
					neededBytes = 0
				case err != nil && neededBytes == 0:
					before, after = start, time.Now()
					neededBytes = size
				case err != nil:
					neededBytes = max(neededBytes, size)
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
				if room >= neededBytes+256 {
					neededBytes = 0
				}
				switch got := s.Problems(); {
				case neededBytes == 0 && len(got) == 0:
				case neededBytes == 0 || len(got) != 1 || got[0].Since.Before(before) || got[0].Since.After(after):
					t.Fatalf("step %d: problems %v; %d bytes have failed", step, got, neededBytes)
				case got[0].About != "store" || got[0].Text != `changes cannot be stored in "`+path+`": no space left on device; free space on its disk; relayfs retries automatically`:
					t.Fatalf("problem is %q", got[0].Text)
				}
			}
		}
		closeStore(t, s)
	})
}

// A checkpoint that cannot be written is a problem, and loses nothing.
func TestCheckpointHasAProblem(t *testing.T) {
	path := newPath(t)
	var file *os.File
	s, err := store.Open(path, store.Options{NoBackground: true, OpenFile: func(name string, flag int, perm fs.FileMode) (_ *os.File, err error) {
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

// A store whose folder was deleted keeps nothing, and says so, instead of writing to files that have no name.
func TestDeletedFolder(t *testing.T) {
	for name, remove := range map[string]func(string) error{
		"with the folder": os.RemoveAll,
		"only the files": func(path string) error {
			files, err := os.ReadDir(path)
			for _, f := range files {
				err = errors.Join(err, os.Remove(filepath.Join(path, f.Name())))
			}
			return err
		},
	} {
		for _, size := range []int64{0, 64} { // with 64, each frame begins a file
			t.Run(fmt.Sprintf("%s, %d", name, size), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store")
				s, err := store.Open(path, store.Options{NoBackground: true, SegmentSize: size})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if _, err := s.Append("a", "A.md", model.Record{Update: model.EmptyUpdate()}); err != nil {
					t.Fatal(err)
				}
				if err := remove(path); err != nil {
					t.Fatal(err)
				}
				_, err = s.Append("a", "A.md", model.Record{Update: model.EmptyUpdate()})
				if err == nil || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a record in a deleted folder: %v", err)
				}
				if list := s.Problems(); len(list) != 1 || list[0].About != model.AboutStore || !strings.Contains(list[0].Text, "deleted") {
					t.Errorf("problems %+v", list)
				}
			})
		}
	}
}
