package store

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// fromAll runs a rare query on the checkpoint with the frames after it.
func fromAll[T any](s *Store, op string, read func(checkpoint.View) (T, error)) (out T, err error) {
	s.mu.Lock()
	entries := s.tail.entries
	s.mu.Unlock()
	err = s.checkpoint.ViewWith(entries, func(v checkpoint.View) (err error) {
		out, err = read(v)
		return err
	})
	return out, s.wrapErr(op, err)
}

func (s *Store) Journal(limit int) ([]model.JournalEntry, error) {
	return fromAll(s, "read journal", func(v checkpoint.View) ([]model.JournalEntry, error) { return v.Journal(limit) })
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

func (s *Store) Unsettled() ([]model.Path, error) {
	return fromAll(s, "list unsettled documents", checkpoint.View.Unsettled)
}
func (s *Store) Located() ([]model.StoredDoc, error) {
	return fromAll(s, "list paths", checkpoint.View.Located)
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
	return s.wrapErr("propose", s.add(&wal.Entry{Kind: wal.Proposals, Proposals: c}, true, nil))
}

func (s *Store) Sent(id model.DocID, seq uint64) error {
	return s.wrapErr("note what was sent", s.add(&wal.Entry{Kind: wal.Sent, ID: id, Seq: seq}, false, nil))
}
