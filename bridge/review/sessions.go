package review

import (
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
)

// Sessions is what is told of the sessions of agents: what they are for, and what people were asked in them.
type Sessions struct{ r *Review }

// NewSessions is the sessions that changed what r reviews.
func NewSessions(r *Review) Sessions { return Sessions{r} }

// SetNote keeps what an agent says of its session, in the journal of every Folder: each may be served
// without the others.
func (s Sessions) SetNote(by model.Author, n model.SessionNote) error {
	const op = "name the session"
	if err := s.r.begin(op); err != nil {
		return err
	}
	defer s.r.c.Activity.Done()
	rec := model.Record{Author: by.Name, Session: by.Session, Batch: namespace.NewBatch(), Time: time.Now().UTC(), SessionNote: &n}
	for _, f := range s.r.tree.Folders() {
		if err := f.Store.Propose(model.ProposalChange{Journal: []model.Record{rec}}); err != nil {
			return model.WrapError(op, f.Path(), err)
		}
	}
	return nil
}

// Note returns what the agent last said of a session, the zero SessionNote if it said nothing.
func (s Sessions) Note(session string) (n model.SessionNote) {
	for _, f := range s.r.tree.Folders() {
		if n = f.Store.SessionNote(session); n != (model.SessionNote{}) {
			return n
		}
	}
	return n
}

// RecordApproval journals that a person was asked about a change at p, in the journal of its Folder.
func (s Sessions) RecordApproval(p model.Path, by model.Author, a model.Approval) error {
	const op = "keep the answer"
	if err := s.r.begin(op); err != nil {
		return err
	}
	defer s.r.c.Activity.Done()
	name, _ := p.Split()
	f := s.r.tree.Folder(name)
	if f == nil {
		return &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	rec := model.Record{Author: by.Name, Session: by.Session, Batch: namespace.NewBatch(), Time: time.Now().UTC(), Approval: &a}
	return model.WrapError(op, p, f.Store.Propose(model.ProposalChange{Journal: []model.Record{rec}}))
}
