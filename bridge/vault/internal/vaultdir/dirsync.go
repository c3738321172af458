package vaultdir

import (
	"log/slog"
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Syncs makes the names in folders durable. Not every caller can report an error, and the disk reports a failure only
// once. So the next SyncAll of the folder returns it, too.
type Syncs struct {
	Log    *slog.Logger
	failed sync.Map // errors that the next SyncAll returns, by folder ID
}

// Sync makes the names in dir durable.
func (s *Syncs) Sync(dir disk.Dir) error {
	err := dir.Sync()
	if err != nil {
		s.Failed(dir, err)
	}
	return err
}

// SyncAll is Sync for a caller that asks about all changes in dir. It also returns an earlier failure.
func (s *Syncs) SyncAll(dir disk.Dir) error {
	id, err := IDOfDir(dir)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if failed, ok := s.failed.LoadAndDelete(id); ok && err == nil {
		err = failed.(error)
	}
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
	if id, statErr := IDOfDir(dir); statErr == nil {
		s.failed.Store(id, err)
	}
}
