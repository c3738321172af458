package store

import (
	"io"
	"path/filepath"
	"time"

	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
)

// Copy writes the checkpoint with everything that the log has now: a file that Open opens, and
// PrepareRestore restores. size is told before. What is appended meanwhile is not in it, and
// does not wait.
func (s *Store) Copy(w io.Writer, size func(int64)) error {
	if err := s.Checkpoint(); err != nil {
		return err
	}
	return s.fail("copy", s.checkpoint.Copy(w, size))
}

// Gain is what Compact did.
type Gain struct {
	Before int64 `json:"before"` // bytes on the disk
	After  int64 `json:"after"`
	// Documents were looked at.
	Documents int `json:"documents"`
}

// Compact merges the records of every document that its source's file holds, takes out of the
// histories what is too old (Options.History), and gives the files the size that this needs.
// done is told of each document. What is appended meanwhile does not wait, but for a moment at
// the end.
func (s *Store) Compact(done func(n, of int)) (g Gain, err error) {
	g.Before = s.size()
	if err = s.Checkpoint(); err == nil {
		err = s.fail("compact", s.triedCheckpoint(s.checkpoint.Compact(func(n, of int) {
			g.Documents = of
			done(n, of)
		})))
	}
	g.After = s.size()
	return g, err
}

// size is how many bytes the checkpoint and the log have.
func (s *Store) size() (n int64) {
	if info, err := s.dir.Stat(filepath.Base(s.path)); err == nil {
		n += info.Size
	}
	// The log's own folder is open for the log, whose listing of it must not be disturbed.
	names, err := s.logNames()
	if err != nil {
		return n
	}
	for _, name := range names {
		if info, err := s.folder.Stat(name); err == nil {
			n += info.Size
		}
	}
	return n
}

func (s *Store) logNames() ([]string, error) {
	log, err := s.dir.OpenDir(filepath.Base(s.path) + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return log.Names(-1)
}

// newest is the time of the newest change.
func (s *Store) newest() (t time.Time, err error) {
	return fromAll(s, "find the newest change", checkpoint.View.Newest)
}
