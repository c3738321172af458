package store

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// triedLog records the outcome of writing to the log, and returns it.
func (s *Store) triedLog(err error) error {
	if errors.Is(err, wal.ErrTooLarge) || errors.Is(err, wal.ErrClosed) {
		return err // nothing was written
	}
	s.tried(model.AboutStore, "changes cannot be stored in %q: %w; %s; it is tried again by itself", err)
	return err
}

// triedCheckpoint records the outcome of writing a checkpoint, and returns it.
func (s *Store) triedCheckpoint(err error) error {
	s.tried(model.AboutCheckpoint, "the log of %q becomes long, since that file cannot be written: %w; %s; it is tried again by itself", err)
	return err
}

// tried records the outcome of an attempt. format is that of a sentence with the path, the
// reason and what to do. It leaves out the names of files in the log, which change.
func (s *Store) tried(about, format string, err error) {
	if err != nil {
		reason, mend := err, "see to its disk"
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			reason = errno
		}
		if errors.Is(translate(err), model.ErrNoSpace) {
			mend = "free space on its disk"
		}
		err = fmt.Errorf(format, s.path, reason, mend)
	}
	s.problems.Record(about, err)
}

// Problems implements model.ProblemReporter: whether changes are stored, and whether the checkpoint
// keeps up with the log.
func (s *Store) Problems() []model.Problem {
	if s.problems.Err(model.AboutStore) != nil {
		s.mu.Lock()
		pad := make([]byte, s.lacking)
		s.mu.Unlock()
		_ = s.add(&frame.Entry{Kind: frame.Padding, Pad: pad}, false, nil)
	}
	return s.problems.All()
}
