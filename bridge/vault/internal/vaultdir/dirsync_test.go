package vaultdir

import (
	"io/fs"
	"testing"

	"github.com/relayfs/relayfs/bridge/disk"
)

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
