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

	appends committer
	wal     wal
	marks   marks
	intents intents

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
	if err := s.intents.load(path + ".intents"); err != nil {
		_ = guard(s.db.Close)
		return nil, fmt.Errorf("store %q: %w", path, translate(err))
	}
	if err := s.wal.open(path+".wal", s.hasEntry); err != nil {
		return nil, fmt.Errorf("store %q: %w", path, errors.Join(translate(err), s.intents.file.Close(), guard(s.db.Close)))
	}
	s.appends.commit = s.update
	s.marks.start(s)
	s.marks.poke() // for what the last process left
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
		return syncDir(filepath.Dir(s.path))
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
			change = upgrade
		}
		return walk(tx)
	})
	if err != nil || change == nil {
		return err
	}
	return s.update(change)
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

// syncDir makes the name of a new file durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Close writes what is not written yet and closes the file. It may be called
// again, and then returns the same.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.marks.stop()
		s.closeErr = errors.Join(s.wal.close(), s.intents.file.Close(), guard(s.db.Close))
	})
	return s.closeErr
}

// hasEntry says whether the file holds what is logged.
func (s *Store) hasEntry(e *walEntry) (has bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		has = hasEntry(tx, e)
		return nil
	})
	return has, err
}

// settle puts what is logged in the file, durably.
func (s *Store) settle() error {
	return s.wal.flush(func(entries []walEntry) error {
		return s.update(func(tx *bolt.Tx) error { return applyEntries(tx, entries) })
	})
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

// marks are what Materialized said and the file does not hold yet.
type marks struct {
	mu      sync.Mutex // protects the following
	pending map[model.DocID]mark
	wake    chan struct{} // holds one token while something is pending
	quit    chan struct{}
	done    chan struct{} // closed when run has ended
}
