package vaultdir

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Syncs makes the names in folders durable. Concurrent changes in one folder share a sync: a sync covers all changes
// before its start. Sync returns a failure to all callers that share the sync, and the next SyncAll of the folder
// returns it once more.
type Syncs struct {
	Log     *slog.Logger
	folders sync.Map // *folderSync by folder ID
}

type folderSync struct {
	calls atomic.Uint64 // number of calls so far

	mu     sync.Mutex // guards the fields below; held during a sync
	synced uint64     // number of calls that came before the last sync
	err    error      // error of the last sync
	failed error      // error that the next SyncAll returns, because not every caller can report an error
}

func (s *Syncs) folder(dir disk.Dir) (*folderSync, error) {
	id, err := IDOfDir(dir)
	f, _ := s.folders.LoadOrStore(id, new(folderSync))
	return f.(*folderSync), err
}

func (f *folderSync) sync(sync func() error) error {
	call := f.calls.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.synced < call {
		f.synced = f.calls.Load()
		f.err = sync()
		f.failed = cmp.Or(f.err, f.failed)
	}
	return f.err
}

// Sync makes the names in dir durable.
func (s *Syncs) Sync(dir disk.Dir) error {
	f, err := s.folder(dir)
	if err != nil {
		return err
	}
	return f.sync(dir.Sync)
}

// SyncAll is Sync for a caller that asks about all changes in dir. It also returns an earlier failure, because the disk
// reports a failure only once.
func (s *Syncs) SyncAll(dir disk.Dir) error {
	f, err := s.folder(dir)
	if err != nil {
		return err
	}
	err = f.sync(dir.Sync)
	f.mu.Lock()
	defer f.mu.Unlock()
	err, f.failed = cmp.Or(err, f.failed), nil
	return err
}

// SyncBestEffort is Sync after a change that is not undone on failure, or for which no caller waits. The next SyncAll
// returns its error.
func (s *Syncs) SyncBestEffort(dir disk.Dir) {
	if err := s.Sync(dir); err != nil {
		s.Log.Warn("folder is not synced: a power cut may restore its previous content", model.LogErr, err)
	}
}

// Failed makes the next SyncAll of a folder return err.
func (s *Syncs) Failed(dir disk.Dir, err error) {
	if f, statErr := s.folder(dir); statErr == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.failed = err
	}
}
