package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

var (
	ErrLocked  = checkpoint.ErrLocked
	ErrDamaged = checkpoint.ErrDamaged
)

const (
	syncDelay = time.Second // delay of a sync after a change that does not wait for the log
	// The checkpoint is updated when the log is checkpointAge old or checkpointSize bytes long.
	checkpointAge  = 10 * time.Second
	checkpointSize = 4 << 20
	shrinkAgain    = time.Hour // delay after a failure to shrink the checkpoint
	// The store removes expired history expireFirst after the start, and then every expireEvery.
	expireFirst = 10 * time.Minute
	expireEvery = 24 * time.Hour
)

type Options struct {
	Logger *slog.Logger // nil discards the messages
	Disk   disk.Disk    // disk of the log; nil is disk.OS{}

	// OpenFile opens the checkpoint, which must be a real file because bbolt maps it. nil means os.OpenFile.
	OpenFile func(name string, flag int, perm fs.FileMode) (*os.File, error)
	// Committed, if set, is called after each durable change of the checkpoint.
	Committed func()
	// History is the time for which histories are kept; 0 means forever.
	History time.Duration
	// FreeSpace, if set, returns the free bytes of a folder's disk. The store does not shrink the checkpoint if the
	// copy that this needs would fill the disk.
	FreeSpace   func(dir string) (uint64, error)
	SegmentSize int64 // size of a file of the log in bytes; 0 means 4 MiB
	MergeAt     int   // see checkpoint.Options
	// NoBackground disables the background work. The caller must then call Sync and Checkpoint.
	NoBackground bool
}

func (o *Options) checkpoint() checkpoint.Options {
	return checkpoint.Options{Logger: o.Logger, OpenFile: o.OpenFile, Committed: o.Committed, History: o.History, FreeSpace: o.FreeSpace, MergeAt: o.MergeAt}
}

type Store struct {
	path string
	log  *slog.Logger
	dir  disk.Dir

	wal        *wal.Log
	checkpoint *checkpoint.File
	problems   *model.Problems

	mu          sync.Mutex // guards the fields below; the frames of tail are in the order of the log
	tail        tail
	files       *fileIndex      // nil until needed
	neededBytes int             // length of the longest frame that did not fit on the disk; 0 once such a frame fits
	sequence    *model.Sequence // nil before UseSequence

	wake       model.Signal  // set when the checkpoint is behind the log
	quit, done chan struct{} // quit ends run; done is closed when run has ended

	closing  sync.Once
	closeErr error // result of Close
}

const checkpointName = "checkpoint.db"

func Open(path string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Disk == nil {
		o.Disk = disk.OS{}
	}
	s := &Store{
		path: path, log: o.Logger, problems: model.NewProblems(o.Logger, error.Error),
		wake: model.NewSignal(), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if err := s.open(o); err != nil {
		return nil, fmt.Errorf("store %q: %w", path, translate(errors.Join(err, s.release())))
	}
	// Each query of a start would apply the frames of the last process again. An error does not matter, because the log
	// has everything.
	_ = s.Checkpoint()
	if o.NoBackground {
		close(s.done)
		return s, nil
	}
	go s.run()
	s.wake.Set()
	return s, nil
}

func (s *Store) open(o Options) error {
	dir, err := disk.MakeFolder(o.Disk, s.path)
	if err != nil {
		return err
	}
	s.dir = dir
	s.checkpoint, err = checkpoint.Open(filepath.Join(s.path, checkpointName), s.dir, o.checkpoint())
	if err != nil {
		return err
	}
	s.tail.checkpoint = s.checkpoint
	var applied wal.LSN
	if err := s.checkpoint.View(func(v checkpoint.View) (err error) {
		applied = v.Applied()
		s.tail.sessions, err = v.SessionNotes()
		return err
	}); err != nil {
		return err
	}
	cut := func(name string) {
		o.Logger.Warn("a part of the log cannot be read: after a kill or a power cut this is normal for the last write; otherwise the disk may be damaging files, "+
			"and decisions may be missing: restore a backup with 'relayfs restore --replace'", "file", filepath.Join(s.path, name))
	}
	s.wal, err = wal.Open(s.dir, wal.Options{SegmentSize: o.SegmentSize, Cut: cut}, applied, func(lsn wal.LSN, body []byte) error {
		e, err := wal.Decode(lsn, body)
		if err != nil {
			return checkpoint.Damaged(err)
		}
		s.tail.add(e)
		return nil
	})
	return err
}

func (s *Store) release() (err error) {
	if s.wal != nil {
		err = s.wal.Close()
	}
	if s.checkpoint != nil {
		err = errors.Join(err, s.checkpoint.Close())
	}
	if s.dir != nil {
		err = errors.Join(err, s.dir.Close())
	}
	return err
}

// Close updates the checkpoint and closes the store and the log. Later calls return the same error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		<-s.done
		_ = s.Checkpoint() // an error does not matter, because the log has everything
		s.closeErr = s.release()
	})
	return s.closeErr
}

func (s *Store) run() {
	defer close(s.done)
	var failed time.Time // time of the last failure to shrink the checkpoint
	shrink := func() {   // an error only wastes space
		if time.Since(failed) < shrinkAgain {
			return
		}
		if err := s.wrapErr("shrink", s.checkpoint.Shrink()); err != nil {
			failed = time.Now()
			s.log.Warn("cannot release free space of the store", model.LogErr, err)
		}
	}
	expire := time.NewTimer(expireFirst)
	defer expire.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-expire.C:
			if s.Expire() == nil {
				shrink()
			}
			expire.Reset(expireEvery)
			continue
		case <-s.wake:
		}
		select {
		case <-s.quit:
			return
		case <-time.After(syncDelay):
		}
		err := s.Sync()
		s.mu.Lock()
		waiting := len(s.tail.entries) > 0
		due := waiting && (time.Since(s.tail.since) >= checkpointAge || s.tail.size >= checkpointSize || s.problems.Err(model.AboutCheckpoint) != nil)
		s.mu.Unlock()
		if due && err == nil {
			if waiting = s.Checkpoint() != nil; !waiting { // after an error the log still has everything
				shrink()
			}
		}
		if waiting {
			s.wake.Set()
		}
	}
}

func (s *Store) HasRecords() bool { return s.wal.LastLSN() > 0 }

func (s *Store) Sync() error { return s.wrapErr("sync", s.sync(s.wal.LastLSN())) }

// sync syncs the log up to lsn. It also succeeds if there was nothing to sync.
func (s *Store) sync(lsn wal.LSN) error {
	err := s.wal.Sync(lsn)
	if err != nil {
		_ = s.recordLogResult(err)
	}
	return err
}

// Checkpoint durably applies all current frames of the log to the checkpoint. If it fails, no frame is lost.
func (s *Store) Checkpoint() error {
	s.mu.Lock()
	entries := s.tail.entries
	s.mu.Unlock()
	if len(entries) == 0 {
		return nil
	}
	err := s.apply(entries)
	s.recordResult(model.AboutCheckpoint, "the log of %q grows because that file cannot be written: %w; %s; relayfs retries automatically", err)
	return s.wrapErr("write a checkpoint", err)
}

// Expire removes expired history. It stops early if the store is closed.
func (s *Store) Expire() error {
	for after := model.DocID(""); ; {
		last, err := s.checkpoint.Expire(after)
		if err != nil || last == "" {
			return s.wrapErr("expire histories", err)
		}
		select {
		case <-s.quit:
			return nil
		default:
			after = last
		}
	}
}

func (s *Store) Check() error { return s.wrapErr("check", s.checkpoint.Check()) }

// Check reads the whole checkpoint of the store at path and changes nothing. It returns ErrLocked if a process has the
// store open.
func Check(path string) error { return checkpoint.Check(filepath.Join(path, checkpointName)) }

func (s *Store) Notes() (int, error) {
	return fromAll(s, "count notes", func(v checkpoint.View) (int, error) { return v.Paths(), nil })
}

func (s *Store) apply(entries []*wal.Entry) error {
	if err := s.checkpoint.Apply(entries); err != nil {
		return err
	}
	last := entries[len(entries)-1].LSN
	s.mu.Lock()
	s.tail.trim(last)
	s.mu.Unlock()
	return s.wal.Release(last)
}

var errNothing = errors.New("the entry would change nothing")

// add appends an entry to the log and the tail. complete, if set, completes the entry first or returns errNothing. If
// synced is set, the entry and everything before it survive a power cut when add returns.
func (s *Store) add(e *wal.Entry, synced bool, complete func(*tail) error) error {
	lsn, err := s.addToLog(e, complete)
	if err == nil && synced {
		err = s.sync(lsn)
	}
	s.wake.Set()
	return err
}

func (s *Store) addToLog(e *wal.Entry, complete func(*tail) error) (wal.LSN, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if complete != nil {
		err := complete(&s.tail)
		if errors.Is(err, errNothing) {
			return s.wal.LastLSN(), nil
		}
		if err != nil {
			return 0, err
		}
	}
	body, err := e.Encode()
	if err != nil {
		return 0, err
	}
	if e.LSN, err = s.wal.Append(body); err != nil {
		if !errors.Is(err, wal.ErrTooLarge) {
			s.neededBytes = max(s.neededBytes, len(body))
		}
		return 0, s.recordLogResult(err)
	}
	if len(body) >= s.neededBytes { // a shorter frame may fit even on a full disk
		s.neededBytes = 0
		_ = s.recordLogResult(nil)
	}
	s.tail.add(e)
	if s.files != nil {
		s.files.add(e)
	}
	return e.LSN, nil
}

func (s *Store) wrapErr(op string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if errors.Is(err, ErrDamaged) {
		s.problems.Record(model.AboutDamage, fmt.Errorf("%q: %w", s.path, err)) // the problem stays until the store is reopened
	}
	return fmt.Errorf("store %q: %s: %w", s.path, op, translate(err))
}

func translate(err error) error {
	if model.IsFull(err) {
		return fullError{err}
	}
	return err
}

// fullError is a model.ErrNoSpace with the kernel's own text.
type fullError struct{ error }

func (e fullError) Is(target error) bool { return target == model.ErrNoSpace }
