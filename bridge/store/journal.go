package store

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// query runs a rare query on the checkpoint together with the frames after it.
func (s *Store) query(op string, read func(checkpoint.View) error) error {
	s.mu.Lock()
	entries := s.tail.entries
	s.mu.Unlock()
	return s.wrapErr(op, s.checkpoint.ViewWith(entries, read))
}

func fromAll[T any](s *Store, op string, read func(checkpoint.View) (T, error)) (out T, err error) {
	err = s.query(op, func(v checkpoint.View) (err error) {
		out, err = read(v)
		return err
	})
	return out, err
}

func (s *Store) Journal(limit int) ([]model.JournalEntry, error) {
	s.mu.Lock()
	t := s.tail.clone() // a journal may be long, and saves must not wait for it
	s.mu.Unlock()
	list, err := t.journal(limit)
	return list, s.wrapErr("read journal", err)
}

func (s *Store) Proposals() ([]model.ProposalRecord, error) {
	return fromAll(s, "read proposals", checkpoint.View.Proposals)
}

// Unsent returns the documents with records that a server has not acknowledged, each with the number of its last such
// record.
func (s *Store) Unsent() (map[model.DocID]uint64, error) {
	return fromAll(s, "list unsent documents", checkpoint.View.Unsent)
}

func (s *Store) DocIDs() ([]model.DocID, error) {
	return fromAll(s, "list documents", checkpoint.View.Documents)
}

func (s *Store) Located(fn func(model.StoredDoc)) error {
	return s.query("list paths", func(v checkpoint.View) error { return v.Located(fn) })
}

func (s *Store) Unsettled() ([]model.Path, error) {
	return fromAll(s, "list unsettled documents", checkpoint.View.Unsettled)
}

func (s *Store) Revisions(id model.DocID) (model.RevisionHistory, error) {
	return fromAll(s, "read history", func(v checkpoint.View) (model.RevisionHistory, error) { return v.Document(id).Revisions() })
}

func (s *Store) SessionNote(session string) model.SessionNote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.sessions[session]
}

func (s *Store) Propose(c model.ProposalChange) error {
	c.Journal = slices.Clone(c.Journal)
	return s.wrapErr("propose", s.add(&wal.Entry{Kind: wal.Proposals, Proposals: c}, true, func(*tail) error {
		for i := range c.Journal {
			s.number(&c.Journal[i])
		}
		return nil
	}))
}

// number sets rec.Order, the place of rec in the journal. The caller holds s.mu until the record is in the log.
func (s *Store) number(rec *model.Record) {
	if s.sequence != nil {
		s.sequence.Pass(model.BatchStart(rec.BatchOf()))
		rec.Order = s.sequence.Next()
	}
}

func (s *Store) UseSequence(q *model.Sequence) error {
	newest, err := s.Journal(1)
	proposals, err2 := s.Proposals()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for _, e := range newest {
		q.Pass(e.Order)
	}
	for _, rec := range proposals {
		q.Pass(rec.Order)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = q
	return nil
}

func (s *Store) Sent(id model.DocID, seq uint64) error {
	return s.wrapErr("record what was sent", s.add(&wal.Entry{Kind: wal.Sent, ID: id, Seq: seq}, false, nil))
}
