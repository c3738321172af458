package store

import (
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

func (s *Store) recordLogResult(err error) error {
	switch {
	case errors.Is(err, wal.ErrTooLarge), errors.Is(err, wal.ErrClosed):
		return err // this was no attempt, because nothing was written
	case errors.Is(err, wal.ErrDeleted):
		s.problems.Record(model.AboutStore, fmt.Errorf("changes cannot be stored, because %q was deleted while relayfs used it; end relayfs, restore a backup of the state with 'relayfs restore' if you have one, and start relayfs again", s.path))
		return err
	}
	s.recordResult(model.AboutStore, "changes cannot be stored in %q: %w; %s; relayfs retries automatically", err)
	return err
}

// recordResult records the outcome of an attempt. format takes the store's path, the reason and the fix. The reason
// omits the names of the log's files, because these change.
func (s *Store) recordResult(about, format string, err error) {
	if err != nil {
		fix, reason := model.ExplainWrite(err)
		err = fmt.Errorf(format, s.path, reason, fix)
	}
	s.problems.Record(about, err)
}

// Problems first tests the log if its last append or sync failed, because without saves nothing else would detect that
// the log works again.
func (s *Store) Problems() []model.Problem {
	if s.problems.Err(model.AboutStore) != nil {
		s.mu.Lock()
		pad := make([]byte, s.neededBytes)
		s.mu.Unlock()
		_ = s.add(&wal.Entry{Kind: wal.Padding, Pad: pad}, false, nil)
	}
	return s.problems.All()
}
