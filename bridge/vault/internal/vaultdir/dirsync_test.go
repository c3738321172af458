package vaultdir

import (
	"io/fs"
	"runtime"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
)

// Callers that arrive during a sync of the folder share the next sync, and its error.
func TestSyncsShare(t *testing.T) {
	var f folderSync
	begun, release := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { f.sync(func() error { close(begun); <-release; return nil }) })
	<-begun
	const callers = 5
	syncs := 0
	for range callers {
		wg.Go(func() {
			if err := f.sync(func() error { syncs++; return fs.ErrInvalid }); err != fs.ErrInvalid {
				t.Errorf("error %v", err)
			}
		})
	}
	for f.calls.Load() < 1+callers {
		runtime.Gosched()
	}
	close(release)
	wg.Wait()
	if syncs != 1 {
		t.Errorf("%d syncs", syncs)
	}
}

// folder is a folder whose syncs return err.
type folder struct {
	disk.Dir
	inode uint64
	err   error
}

func (f *folder) Info() (disk.Info, error) { return disk.Info{Device: 1, Inode: f.inode}, nil }
func (f *folder) Sync() error              { return f.err }

// SyncAll returns a failed sync of its folder once, also if another caller had the error.
func TestFailureIsReturnedOnce(t *testing.T) {
	var s Syncs
	here, there := &folder{inode: 1, err: fs.ErrInvalid}, &folder{inode: 2}
	if err := s.Sync(here); err != fs.ErrInvalid {
		t.Errorf("error %v", err)
	}
	here.err = nil
	if err := s.Sync(here); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if err := s.SyncAll(there); err != nil {
		t.Errorf("another folder: %v", err)
	}
	for _, want := range []error{fs.ErrInvalid, nil} {
		if err := s.SyncAll(here); err != want {
			t.Errorf("SyncAll returned %v, want %v", err, want)
		}
	}
}
