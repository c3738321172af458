package vaultdir

import (
	"errors"
	"log/slog"
	"sync"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Syncs makes the names in folders durable. Concurrent changes in one folder share a sync: a sync covers all changes
// before its start, so callers that arrive during a sync share the next one. Sync returns a failure to all callers that
// share the sync, and the next SyncAll of the folder returns it once more.
type Syncs struct {
	Log *slog.Logger

	// failed has errors by folder ID until SyncAll returns them, because not every caller can report an error.
	failed sync.Map

	mu   sync.Mutex // guards last, and the rounds' fields
	last map[ID]*round
}

type round struct {
	before *round // the round that must end before this one starts; nil if it has ended
	begun  bool   // it is too late to join the round
	done   chan struct{}
	err    error // error of the sync; read it after done is closed
}

// Sync makes the names in dir durable. It ignores EINVAL, which a disk returns if it cannot sync folders.
func (s *Syncs) Sync(dir disk.Dir) error {
	id, err := IDOfDir(dir)
	if err != nil {
		return err
	}
	return s.do(id, func() error {
		if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) {
			return err
		}
		return nil
	})
}

// SyncAll is Sync for a caller that asks about all changes in dir. It also returns an earlier failure, because the disk
// reports a failure only once.
func (s *Syncs) SyncAll(dir disk.Dir) error {
	id, err := IDOfDir(dir)
	if err != nil {
		return err
	}
	err = s.Sync(dir)
	if before, failed := s.failed.LoadAndDelete(id); failed && err == nil {
		err = before.(error)
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

func (s *Syncs) do(id ID, sync func() error) error {
	r, lead := s.join(id)
	if !lead {
		<-r.done
		return r.err
	}
	if r.before != nil {
		<-r.before.done
	}
	s.mu.Lock()
	r.begun, r.before = true, nil
	s.mu.Unlock()
	r.err = sync()
	s.mu.Lock()
	if s.last[id] == r {
		delete(s.last, id)
	}
	if r.err != nil {
		s.failed.Store(id, r.err) // store it before the next round starts, because that may succeed
	}
	s.mu.Unlock()
	close(r.done)
	return r.err
}

// join returns the folder's next round. lead is set for the first caller in the round, who must run it.
func (s *Syncs) join(id ID) (r *round, lead bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last[id]
	if last != nil && !last.begun {
		return last, false
	}
	if s.last == nil {
		s.last = make(map[ID]*round)
	}
	r = &round{before: last, done: make(chan struct{})}
	s.last[id] = r
	return r, true
}
