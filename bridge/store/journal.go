package store

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// query runs a rare query on the checkpoint together with frames after it.
func (s *Store) query(op string, entries []*wal.Entry, read func(checkpoint.View) error) error {
	return s.wrapErr(op, s.checkpoint.ViewWith(entries, read))
}

// entries returns the frames after the checkpoint.
func (s *Store) entries() []*wal.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.entries
}

func fromAll[T any](s *Store, op string, read func(checkpoint.View) (T, error)) (out T, err error) {
	err = s.query(op, s.entries(), func(v checkpoint.View) (err error) {
		out, err = read(v)
		return err
	})
	return out, err
}

func (s *Store) Journal(limit int) (list []model.JournalEntry, err error) {
	err = s.query("read journal", journalled(s.entries()), func(v checkpoint.View) (err error) {
		list, err = v.Journal(limit)
		return err
	})
	return list, err
}

// journalled returns frames that lead to the same journal. They have only the numbers and times of the records that the
// journal omits, because an agent's write may have thousands of marks.
func journalled(tail []*wal.Entry) (entries []*wal.Entry) {
	for _, e := range tail {
		part := *e
		part.Records = slices.Clone(e.Records)
		for i, rec := range part.Records {
			if !rec.Journalled() {
				part.Records[i] = model.Record{Seq: rec.Seq, Time: rec.Time}
			}
		}
		if e.Kind != wal.FileMark { // it merges updates, which the journal omits
			entries = append(entries, &part)
		}
	}
	return entries
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
	return s.query("list paths", s.entries(), func(v checkpoint.View) error { return v.Located(fn) })
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
		rec.Order = s.sequence.Next()
	}
}

func (s *Store) UseSequence(q *model.Sequence) error {
	last, err := fromAll(s, "number the journal", func(v checkpoint.View) (last uint64, err error) {
		newest, err := v.Journal(1)
		for _, e := range newest {
			last = e.Order
		}
		proposals, err2 := v.Proposals()
		for _, rec := range proposals {
			last = max(last, rec.Order)
		}
		return last, errors.Join(err, err2)
	})
	if err != nil {
		return err
	}
	q.Pass(last)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = q
	return nil
}

func (s *Store) Sent(id model.DocID, seq uint64) error {
	return s.wrapErr("record what was sent", s.add(&wal.Entry{Kind: wal.Sent, ID: id, Seq: seq}, false, nil))
}
