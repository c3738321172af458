package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/wal"
)

var (
	// ErrLocked says that another process has the store open.
	ErrLocked = errors.New("store is in use by another process")
	// ErrDamaged says that the file is not what this package wrote.
	ErrDamaged = errors.New("store is damaged")
)

// lockTimeout is how long Open waits for another process that is just ending.
const lockTimeout = time.Second

// Options configure a Store.
type Options struct {
	Logger *slog.Logger // nil discards
}

// Store is an open store file.
type Store struct {
	path string
	db   *bolt.DB
	log  *slog.Logger

	wal  *wal.Log
	tail tail

	checkpointing sync.Mutex    // one at a time; before tail.mu
	wake          chan struct{} // holds one token while the checkpoint lags behind
	quit, done    chan struct{} // done is closed when run has ended

	closing  sync.Once
	closeErr error // set by closing
}

// Open opens the store at path, making the file if there is none.
func Open(path string, o Options) (*Store, error) {
	s := &Store{path: path, log: o.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("store %q: %w", path, err)
	}
	if err := s.openLog(); err != nil {
		return nil, fmt.Errorf("store %q: %w", path, errors.Join(translate(err), guard(s.db.Close)))
	}
	s.wake, s.quit, s.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go s.run()
	s.poke() // for what the last process left
	return s, nil
}

func (s *Store) open() error {
	_, statErr := os.Stat(s.path)
	var file *os.File
	o := &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType}
	o.OpenFile = func(name string, flag int, perm os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag, perm)
		return file, err
	}
	err := guard(func() (err error) {
		s.db, err = bolt.Open(s.path, 0o600, o)
		return err
	})
	if err != nil {
		file.Close() // bbolt does not, with its lock, if it panicked
		return openError(err)
	}
	if err = s.prepare(); err != nil {
		_ = guard(s.db.Close)
		return err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		dir, err := wal.OSDir(filepath.Dir(s.path))
		if err != nil {
			return err
		}
		return dir.Sync() // the file's name outlives a power cut
	}
	return nil
}

// prepare checks the file, lays it out if it is new and brings it up to date if it
// is older.
func (s *Store) prepare() error {
	var change func(*bolt.Tx) error
	err := s.view(func(tx *bolt.Tx) error {
		if name, _ := tx.Cursor().First(); name == nil {
			change = layOut
			return nil
		}
		older, err := checkVersion(tx)
		if err != nil {
			return err
		}
		if older {
			change = s.upgrade
		}
		return walk(tx)
	})
	if err == nil && change != nil {
		err = s.update(change)
	}
	if err != nil {
		return err
	}
	return s.removeOldFiles()
}

// openError tells what can be done about a file that cannot be opened.
func openError(err error) error {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return damaged(err)
	}
	return translate(err)
}

// openLog reads what the log has and the checkpoint does not.
func (s *Store) openLog() error {
	dir, err := wal.OSDir(s.path + ".log")
	if err != nil {
		return err
	}
	var after wal.LSN
	if err := s.view(func(tx *bolt.Tx) error {
		after = applied(tx)
		return nil
	}); err != nil {
		return err
	}
	s.wal, err = wal.Open(dir, wal.Options{}, after, func(lsn wal.LSN, body []byte) error {
		e, err := decodeEntry(lsn, body)
		if err != nil {
			return damaged(err)
		}
		s.tail.add(e)
		return nil
	})
	if err != nil {
		return err
	}
	return s.checkpointOf(kindAbort) // Load does not see that the file has what was taken back
}

// Close brings the file up to the log and closes both. It may be called again, and then
// returns the same.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		<-s.done
		if err := s.checkpoint(); err != nil { // what is in the log stays there
			s.log.Warn("store lags behind its log", model.LogErr, err)
		}
		s.closeErr = errors.Join(s.wal.Close(), guard(s.db.Close))
	})
	return s.closeErr
}

// update runs fn in a transaction, which is synced when update returns.
func (s *Store) update(fn func(*bolt.Tx) error) error {
	return translate(guard(func() error { return s.db.Update(fn) }))
}

func (s *Store) view(fn func(*bolt.Tx) error) error {
	return translate(guard(func() error { return s.db.View(fn) }))
}

// fail names the store's file in an error.
func (s *Store) fail(op string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("store %q: %s: %w", s.path, op, err)
}

// translate gives a full disk its sentinel.
func translate(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %v", model.ErrNoSpace, err)
	}
	return err
}
