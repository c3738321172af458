package review

import (
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// SetSessionNote stores an agent's description of its session in the journal of every root, because each root may be
// served without the other roots.
func (r *Review) SetSessionNote(author model.Author, n model.SessionNote) error {
	const op = "name the session"
	if err := r.begin(op); err != nil {
		return err
	}
	defer r.config.Events.EndOp()
	rec := model.Record{Author: author.Name, Session: author.Session, Batch: model.NewBatch(), Time: time.Now().UTC(), SessionNote: &n}
	for _, f := range r.tree.Roots() {
		if err := f.Store.Propose(model.ProposalChange{Journal: []model.Record{rec}}); err != nil {
			return model.WrapError(op, f.Path(), err)
		}
	}
	return nil
}

func (r *Review) SessionNote(session string) (n model.SessionNote) {
	for _, f := range r.tree.Roots() {
		if n = f.Store.SessionNote(session); n != (model.SessionNote{}) {
			return n
		}
	}
	return n
}

// RecordApproval records the user's answer to a question about a change at p, in the journal of p's root.
func (r *Review) RecordApproval(p model.Path, author model.Author, a model.Approval) error {
	const op = "keep the answer"
	if err := r.begin(op); err != nil {
		return err
	}
	defer r.config.Events.EndOp()
	name, _ := p.Split()
	f := r.tree.Root(name)
	if f == nil {
		return &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	rec := model.Record{Author: author.Name, Session: author.Session, Batch: model.NewBatch(), Time: time.Now().UTC(), Approval: &a}
	return model.WrapError(op, p, f.Store.Propose(model.ProposalChange{Journal: []model.Record{rec}}))
}
