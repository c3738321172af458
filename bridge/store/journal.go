package store

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
)

// inCheckpoint calls fn with a checkpoint that has everything: what is asked seldom has no
// copy in memory.
func (s *Store) inCheckpoint(op string, fn func(checkpoint.View) error) error {
	err := s.Checkpoint()
	if err == nil {
		err = s.checkpoint.View(fn)
	}
	return s.fail(op, err)
}

// Journal returns the newest journalled records, newest first, at most limit.
func (s *Store) Journal(limit int) (entries []model.JournalEntry, err error) {
	err = s.inCheckpoint("read journal", func(v checkpoint.View) (err error) {
		entries, err = v.Journal(limit)
		return err
	})
	return entries, err
}

// Proposals returns the pending proposals in the order in which they were made.
func (s *Store) Proposals() (list []model.ProposalRecord, err error) {
	err = s.inCheckpoint("read proposals", func(v checkpoint.View) (err error) {
		list, err = v.Proposals()
		return err
	})
	return list, err
}

// Propose changes the pending proposals and the journal, all of it or nothing, durably.
func (s *Store) Propose(c model.ProposalChange) error {
	return s.fail("propose", s.add(&frame.Entry{Kind: frame.Proposals, Proposals: c}, true, nil))
}

// Unsent returns the documents with records that a server has not acknowledged,
// and the sequence number of the last such record of each.
func (s *Store) Unsent() (all map[model.DocID]uint64, err error) {
	err = s.inCheckpoint("list unsent documents", func(v checkpoint.View) (err error) {
		all, err = v.Unsent()
		return err
	})
	return all, err
}

// Sent notes that a server has acknowledged everything of the document id up to
// the record seq.
func (s *Store) Sent(id model.DocID, seq uint64) error {
	return s.fail("note what was sent", s.add(&frame.Entry{Kind: frame.Sent, ID: id, Seq: seq}, false, nil))
}

// Kept lists the documents that have a history.
func (s *Store) Kept() (ids []model.DocID, err error) {
	err = s.inCheckpoint("list documents", func(v checkpoint.View) (err error) {
		ids, err = v.Documents()
		return err
	})
	return ids, err
}
