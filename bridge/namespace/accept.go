package namespace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// This file applies proposals that users accept. It records the start of an acceptance in the Store, changes the
// source, and then records the outcome. So after a crash the next process can determine whether the source was changed.

type acceptOp struct {
	*Locked
	d           model.Decision
	acceptStale bool // also accept stale proposals
	lost        map[string]string
}

// all accepts the proposals in an order in which each acceptance succeeds, if there is such an order. It returns the
// errors of the proposals that failed.
func (a acceptOp) all(ctx context.Context, left []*tree.Proposal) map[*tree.Proposal]error {
	failed := a.unsatisfiable(left)
	left = slices.DeleteFunc(slices.Clone(left), func(p *tree.Proposal) bool { return failed[p] != nil })
	for len(left) > 0 {
		a.PersistChanges() // this may give a waiting rename its name
		var waiting []*tree.Proposal
		for _, p := range left {
			err := a.accept(ctx, p)
			if errors.Is(err, model.ErrNameTaken) {
				waiting = append(waiting, p)
			}
			if failed[p] = err; err == nil {
				delete(failed, p)
			}
		}
		if len(waiting) == len(left) && !a.breakCycle(ctx, waiting) {
			break
		}
		left = waiting
	}
	a.restoreNames(ctx)
	return failed
}

// unsatisfiable returns the proposals that fail in any order, with their errors. breakCycle moves no node for these
// proposals.
func (a acceptOp) unsatisfiable(list []*tree.Proposal) map[*tree.Proposal]error {
	failed := make(map[*tree.Proposal]error)
	left := slices.DeleteFunc(slices.Clone(list), func(p *tree.Proposal) bool {
		if p.Record().Stale && !a.acceptStale {
			failed[p] = model.ErrStale
		}
		return failed[p] != nil
	})
	for _, p := range a.Unappliable(left) {
		failed[p] = a.nameTakenErrOf(p)
	}
	return failed
}

func (a acceptOp) accept(ctx context.Context, p *tree.Proposal) error {
	if a.Structure == nil {
		return model.ErrReadOnly
	}
	a.markStale(ctx, p.Node)
	rec := p.Record()
	if rec.Stale && !a.acceptStale {
		return model.ErrStale
	}
	switch rec.Kind {
	case model.ProposedRename:
		return a.move(ctx, p, rec)
	case model.ProposedDelete:
		return a.remove(ctx, p)
	}
	return a.file(ctx, p, rec)
}

// applyWithIntent records the decision in the Store as being applied, calls do, and records
// the outcome: the journal's entry and the removal of the proposal.
func (a acceptOp) applyWithIntent(p *tree.Proposal, do func() error) error {
	rec := p.Record()
	started := rec
	started.PendingDecision = &a.d
	if err := a.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{started}}); err != nil {
		return err
	}
	p.Update(func(rec *model.ProposalRecord) { rec.PendingDecision = &a.d })
	a.ClearCreator(p.Node)
	if err := do(); err != nil {
		p.Update(func(rec *model.ProposalRecord) { rec.PendingDecision = nil })
		return errors.Join(err, a.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{rec}}))
	}
	now := p.Record()
	rec.CanvasNodes = now.CanvasNodes
	a.Withdraw(p)
	change := model.ProposalChange{Upserted: a.Changed(), Removed: []string{rec.ID}, Journal: []model.Record{rec.Decided(a.d, time.Now().UTC())}}
	if rec.Kind == model.ProposedRename {
		done := decidedRename(rec, now.PendingRelinks, a.d, a.lost[rec.ID])
		change.Upserted = append(change.Upserted, done)
		a.completed = append(a.completed, done)
	}
	err := a.Store.Propose(change)
	if err != nil {
		a.log.Error("an applied decision is not in the journal yet", model.LogPath, rec.Rel, model.LogErr, err)
	}
	return nil
}

// decidedRename returns the record that the store keeps of a decided rename until its links are rewritten. lost is the
// LostRel of that record.
func decidedRename(rec model.ProposalRecord, owes []model.PendingRelink, d model.Decision, lost string) model.ProposalRecord {
	d.Follows = rec.ID
	rec.ID += "-done" // an undo makes the proposal pending again under its own ID
	rec.Kind, rec.PendingRelinks, rec.Decision, rec.LostRel = model.RenameDone, owes, &d, lost
	if d.Verdict == model.Rejected {
		at := model.Path(rec.Rel)
		rec.Rel, rec.ToDir, rec.Name, rec.DisplacedName = rec.To(), string(at.Dir()), at.Base(), ""
	}
	return rec
}

func (l *Locked) nameTakenErr(rel string) error {
	return fmt.Errorf("%q %w: decide first on the proposal with that name, or on both together", l.Name+"/"+rel, model.ErrNameTaken)
}

func (l *Locked) nameTakenErrOf(p *tree.Proposal) error {
	rec := p.Record()
	if !rec.Blocked {
		st := p.Node.State()
		return l.nameTakenErr(cmp.Or(st.ShownRel, st.Rel))
	}
	if l.Lookup(rec.ToDir) == nil {
		return fmt.Errorf("%q %w: create the folder again, or reject the rename", l.Name+"/"+rec.ToDir, fs.ErrNotExist)
	}
	return fmt.Errorf("%q %w: rename or delete it first, or reject this rename", l.Name+"/"+rec.To(), model.ErrNameTaken)
}

func (a acceptOp) move(ctx context.Context, p *tree.Proposal, rec model.ProposalRecord) error {
	if rec.Blocked {
		return a.nameTakenErrOf(p)
	}
	st := p.Node.State()
	to := tree.Target{Dir: st.Dir, Name: st.Name}
	if to.InSource() != nil || model.Rebased(st.ShownRel, st.Rel, "") != st.ShownRel {
		return a.nameTakenErr(st.ShownRel)
	}
	if p.Node.Kind == model.KindNote && rec.Doc == "" { // the note was empty when the rename was proposed
		doc, _, _, _ := p.Node.Note().State(ctx)
		p.Update(func(rec *model.ProposalRecord) { rec.Doc = doc })
	}
	return a.applyWithIntent(p, func() error {
		had, err := a.moveSource(ctx, p.Node, st.Rel, st.ShownRel, to, nil)
		p.Update(func(rec *model.ProposalRecord) { rec.CanvasNodes = had })
		return err
	})
}

// moveSource renames n in the source. It does not change where n is shown. Canvases follow, see CanvasesFollow.
func (l *Locked) moveSource(ctx context.Context, n *tree.Node, oldRel, newRel string, to tree.Target, except []model.CanvasNodes) (had []model.CanvasNodes, err error) {
	unlock := l.LockNotes(n)
	defer unlock()
	if err := l.Structure.Rename(ctx, oldRel, newRel, false); err != nil {
		return nil, err
	}
	l.SetSourceLoc(n, to)
	if moved := (*Root)(l).rebaseCompleted(oldRel, newRel); len(moved) > 0 {
		if err := l.Store.Propose(model.ProposalChange{Upserted: moved}); err != nil {
			l.log.Error("after a crash the links to a renamed note may keep its old name", model.LogPath, newRel, model.LogErr, err)
		}
	}
	// If a rejected note at newRel was removed, its history is still there, for an undo. The renamed note must not add
	// to that history.
	l.EndDocs(newRel)
	l.RenameDocs(oldRel, newRel)
	return l.CanvasesFollow(ctx, oldRel, newRel, except), nil
}

// RenameDocs renames the documents in the Store. If that fails, the Store gets a document's new path with the next
// write of the document.
func (l *Locked) RenameDocs(oldRel, newRel string) {
	if err := l.Store.Rename(model.Path(oldRel), model.Path(newRel)); err != nil {
		l.log.Error("renamed documents keep their old paths in the store", model.LogPath, newRel, model.LogErr, err)
	}
}

// EndDocs ends the documents at and below rel, whose files no longer exist. A later file there gets a new document,
// unless it turns out to be the same file or to hold the same text. EndDocs does nothing for a server, because a server
// names its documents itself.
func (l *Locked) EndDocs(rel string) {
	if _, live := l.Source.(model.Documents); live {
		return
	}
	if err := l.Store.End(model.Path(rel)); err != nil {
		l.log.Error("documents of removed notes keep their paths in the store", model.LogPath, rel, model.LogErr, err)
	}
}

// breakCycle handles proposals that wait for each other's names. It moves the node of one of them to a temporary name,
// so that the other proposals can proceed. It moves each node once at most, and reports whether it moved one.
func (a acceptOp) breakCycle(ctx context.Context, waiting []*tree.Proposal) bool {
	for _, p := range waiting {
		if rec := p.Record(); rec.Kind != model.ProposedRename || rec.Blocked {
			continue
		}
		st := p.Node.State()
		occupant := st.Dir.InSource(st.Name)
		i := slices.IndexFunc(waiting, func(q *tree.Proposal) bool {
			rec := q.Record()
			return q.Node == occupant && rec.Kind != model.ProposedFile && rec.DisplacedName == ""
		})
		if i < 0 {
			continue
		}
		if err := a.moveTo(ctx, waiting[i], waiting[i].Node.FreeNameBeside()); err != nil {
			a.log.Warn("names could not be exchanged", model.LogPath, string(occupant.Location().Path), model.LogErr, err)
			return false
		}
		return true
	}
	return false
}

// restoreNames moves nodes from their temporary names back to their own names, if their proposals are still pending and
// the names are free.
func (l *Locked) restoreNames(ctx context.Context) {
	for _, p := range l.Pending() {
		to, ok := p.OriginalTarget()
		if !ok {
			continue
		}
		if err := l.moveTo(ctx, p, to); err != nil {
			l.log.Warn("a note that was moved aside keeps its temporary name", model.LogPath, string(p.Node.Location().Path), model.LogErr, err)
		}
	}
}

// moveTo renames the node of a proposal in the source. The proposal stays pending.
func (l *Locked) moveTo(ctx context.Context, p *tree.Proposal, to tree.Target) error {
	rec := p.Record()
	rec.MovingTo = to.Rel()
	if err := l.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{rec}}); err != nil {
		return err
	}
	p.Update(func(r *model.ProposalRecord) { r.MovingTo = rec.MovingTo })
	_, err := l.moveSource(ctx, p.Node, rec.Rel, rec.MovingTo, to, nil)
	if err == nil {
		rec.MovedToTempName()
	}
	p.Update(func(r *model.ProposalRecord) { r.DisplacedName, r.MovingTo = rec.DisplacedName, "" })
	if err != nil {
		err = errors.Join(err, l.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{p.MarkStored()}}))
	}
	l.PersistChanges()
	return err
}

func (a acceptOp) remove(ctx context.Context, p *tree.Proposal) error {
	n, st := p.Node, p.Node.State()
	if holds := n.SourceChildren(); len(holds) > 0 {
		return a.nameTakenErr(holds[0].Location().Rel)
	}
	var old []byte
	var stamp model.Stamp
	var doc model.DocID
	if (n.Kind == model.KindNote || n.Kind == model.KindFile) && st.Size <= model.MaxNote {
		data, present, err := a.Source.Read(ctx, st.Rel)
		if err != nil {
			return err
		}
		old, stamp = append([]byte{}, data...), present
		if n.Kind == model.KindNote {
			// Without the document, an undo restores the note without its authors.
			doc, _ = n.Note().DocID(ctx)
		}
	}
	p.Update(func(rec *model.ProposalRecord) {
		rec.Link = st.Link
		if old != nil {
			rec.Old, rec.Doc, rec.Stamp = old, doc, stamp
		}
	})
	return a.applyWithIntent(p, func() error {
		unlock := a.LockNotes(n)
		defer unlock()
		if err := a.Structure.Remove(ctx, st.Rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		a.Forget(n)
		if n.Kind == model.KindNote {
			a.EndDocs(st.Rel)
		}
		return nil
	})
}

func (a acceptOp) file(ctx context.Context, p *tree.Proposal, rec model.ProposalRecord) error {
	if p.Node.State().Proposed {
		return a.applyWithIntent(p, func() error { return a.makeFile(ctx, p.Node, rec.To(), rec.New) })
	}
	if m := model.MergerOf(a.Source, rec.Rel); m != nil {
		return a.applyWithIntent(p, func() error { return a.merge(ctx, m, p.Node, rec.Old, rec.New) })
	}
	have, stamp, err := a.Source.Read(ctx, rec.Rel)
	if err != nil {
		return err
	}
	if rec.Stale {
		p.Update(func(rec *model.ProposalRecord) { rec.Old = append([]byte{}, have...) }) // an undo then restores the user's version
	} else if !bytes.Equal(have, rec.Old) {
		return model.ErrStale
	}
	return a.applyWithIntent(p, func() error {
		_, err := a.replaceDurably(ctx, p.Node, rec.Rel, stamp, have, rec.New)
		if errors.Is(err, model.ErrConflict) {
			err = model.ErrStale
		}
		return err
	})
}

// replaceDurably replaces the content of the file n with data and syncs it. The caller then records its decision in the
// journal. have is the present content; replaceDurably restores it if the sync fails.
func (l *Locked) replaceDurably(ctx context.Context, n *tree.Node, rel string, expect model.Stamp, have, data []byte) (stamp model.Stamp, err error) {
	stamp, err = l.Source.Replace(ctx, rel, model.Replacement{IfMatch: expect, Data: data, ModTime: expect.Next(time.Now())})
	if err != nil {
		return stamp, err
	}
	if err = (*Root)(l).sync(ctx, rel); err != nil {
		back, failed := l.Source.Replace(ctx, rel, model.Replacement{IfMatch: stamp, Data: have, ModTime: stamp.Next(time.Now())})
		if failed == nil {
			stamp = back
			failed = (*Root)(l).sync(ctx, rel) // otherwise a power cut could undo the change
		}
		err = errors.Join(err, failed)
	}
	l.SetStamp(n, stamp)
	return stamp, err
}

// sync makes earlier changes at rel durable, if the source supports that.
func (f *Root) sync(ctx context.Context, rel string) error {
	if s, ok := f.Source.(model.Durable); ok {
		return s.Sync(ctx, rel)
	}
	return nil
}

// merge merges data, which a writer made from base, into the file n.
func (l *Locked) merge(ctx context.Context, m model.FileMerger, n *tree.Node, base, data []byte) error {
	stamp, err := m.Merge(ctx, n.Location().Rel, base, data)
	if err == nil {
		l.SetStamp(n, stamp)
	}
	return err
}

func (l *Locked) makeFile(ctx context.Context, n *tree.Node, rel string, data []byte) error {
	stamp, err := l.Structure.Create(ctx, rel, model.NewFile{Data: data, Mode: 0o644, ModTime: time.Now()})
	if errors.Is(err, fs.ErrExist) {
		return model.ErrStale
	}
	if err == nil {
		l.MarkStoredInSource(n, stamp)
	}
	return err
}
