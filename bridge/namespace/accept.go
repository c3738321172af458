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

// This file carries out what people accept: in the source first, between two
// notes in the Store, so that the next process finds out what a crash left.

// accepting is one decision by which proposals are accepted.
type accepting struct {
	*Locked
	d     model.Decision
	force bool // stale ones, too
}

// all accepts proposals in whatever order is possible, and tells for each what went
// wrong, if anything.
func (a accepting) all(ctx context.Context, left []*tree.Proposal) map[*tree.Proposal]error {
	failed := a.hopeless(left)
	left = slices.DeleteFunc(slices.Clone(left), func(p *tree.Proposal) bool { return failed[p] != nil })
	asides := 0
	for len(left) > 0 {
		a.Settle() // a rename may have its name now
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
		if len(waiting) == len(left) {
			if asides++; asides > len(waiting) || !a.stepAside(ctx, waiting) {
				break
			}
		}
		left = waiting
	}
	a.giveNamesBack(ctx, a.Pending())
	return failed
}

// hopeless are those that are known to fail, whatever the order. For those nothing is moved aside.
func (a accepting) hopeless(list []*tree.Proposal) map[*tree.Proposal]error {
	failed := make(map[*tree.Proposal]error)
	left := slices.DeleteFunc(slices.Clone(list), func(p *tree.Proposal) bool {
		if p.Record().Stale && !a.force {
			failed[p] = model.ErrStale
		}
		return failed[p] != nil
	})
	for _, p := range a.Blocked(left) {
		failed[p] = a.inTheWayOf(p)
	}
	return failed
}

func (a accepting) accept(ctx context.Context, p *tree.Proposal) error {
	if a.Structure == nil {
		return model.ErrReadOnly
	}
	a.noticeChange(ctx, p.Node)
	rec := p.Record()
	if rec.Stale && !a.force {
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

// carryOut notes in the Store that the decision is being carried out, does so, and
// notes what came of it: the journal's entry, and the proposal gone.
func (a accepting) carryOut(p *tree.Proposal, do func() error) error {
	rec := p.Record()
	begun := rec
	begun.Accepting = &a.d
	if err := a.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{begun}}); err != nil {
		return err
	}
	a.Used(p.Node)
	if err := do(); err != nil {
		return errors.Join(err, a.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{rec}}))
	}
	now := p.Record()
	a.Withdraw(p)
	change := model.ProposalChange{Put: a.Changed(), Drop: []string{rec.ID}, Journal: []model.Record{rec.Decided(a.d, time.Now().UTC())}}
	if len(now.Owes) > 0 {
		done := accepted(rec, now.Owes, a.d)
		change.Put = append(change.Put, done)
		a.done = append(a.done, done)
	}
	err := a.Store.Propose(change)
	if err != nil {
		a.log.Error("a decision that was carried out is not in the journal yet", model.LogPath, rec.Rel, model.LogErr, err)
	}
	return nil
}

// accepted is what is kept of an accepted rename as long as it owes links.
func accepted(rec model.ProposalRecord, owes []model.OwedLinks, d model.Decision) model.ProposalRecord {
	d.Follows = rec.ID
	rec.ID += "-done" // an undo lets the proposal wait again
	rec.Kind, rec.Owes, rec.Accepted = model.RenameDone, owes, &d
	return rec
}

func (l *Locked) inTheWay(rel string) error {
	return fmt.Errorf("%q %w: decide on what is proposed for it first, or together", l.Name+"/"+rel, model.ErrNameTaken)
}

// inTheWayOf is the error for a proposal that the source cannot follow.
func (l *Locked) inTheWayOf(p *tree.Proposal) error {
	rec := p.Record()
	if !rec.Blocked {
		st := p.Node.State()
		return l.inTheWay(cmp.Or(st.ShownRel, st.Rel))
	}
	if l.Lookup(rec.ToDir) == nil {
		return fmt.Errorf("%q %w: make the folder again, or reject the rename", l.Name+"/"+rec.ToDir, fs.ErrNotExist)
	}
	return fmt.Errorf("%q %w, and keeps its name: rename or delete that first, or reject this rename", l.Name+"/"+rec.To(), model.ErrNameTaken)
}

func (a accepting) move(ctx context.Context, p *tree.Proposal, rec model.ProposalRecord) error {
	if rec.Blocked {
		return a.inTheWayOf(p)
	}
	st := p.Node.State()
	to := tree.Target{Dir: st.Dir, Name: st.Name}
	if to.InSource() != nil || model.Rebased(st.ShownRel, st.Rel, "") != st.ShownRel {
		return a.inTheWay(st.ShownRel)
	}
	return a.carryOut(p, func() error { return a.moveSource(ctx, p.Node, st.Rel, st.ShownRel, to) })
}

// moveSource renames in the source what is shown elsewhere already, or stays so.
func (l *Locked) moveSource(ctx context.Context, n *tree.Node, oldRel, newRel string, to tree.Target) error {
	unlock := l.LockNotes(n)
	defer unlock()
	if err := l.Structure.Rename(ctx, oldRel, newRel, false); err != nil {
		return err
	}
	l.Rehome(n, to)
	for i := range l.done {
		l.done[i].Rebase(oldRel, newRel)
	}
	// A note that was rejected, and went, has left its history at the name, which an undo gives it back;
	// the note that has the name now is not to add to that.
	l.EndDocs(newRel)
	l.RenameDocs(oldRel, newRel)
	l.CanvasesFollow(ctx, oldRel, newRel)
	return nil
}

// RenameDocs lets the Store follow a rename. What it misses it finds out when a
// document is written next.
func (l *Locked) RenameDocs(oldRel, newRel string) {
	if err := l.Store.Rename(model.Path(oldRel), model.Path(newRel)); err != nil {
		l.log.Error("renamed documents keep their old paths in the store", model.LogPath, newRel, model.LogErr, err)
	}
}

// EndDocs ends the documents at and below rel, where nothing is any more: what comes there is something else, unless it
// turns out to be the same file or to hold the same text. A server names its documents itself.
func (l *Locked) EndDocs(rel string) {
	if _, live := l.Source.(model.Documents); live {
		return
	}
	if err := l.Store.End(model.Path(rel)); err != nil {
		l.log.Error("documents of what is gone keep their paths in the store", model.LogPath, rel, model.LogErr, err)
	}
}

// stepAside moves one of several that wait for each other to a free name, so that
// the others can go on.
func (a accepting) stepAside(ctx context.Context, waiting []*tree.Proposal) bool {
	for _, p := range waiting {
		if rec := p.Record(); rec.Kind != model.ProposedRename || rec.Blocked {
			continue
		}
		st := p.Node.State()
		occupant := st.Dir.InSource(st.Name)
		i := slices.IndexFunc(waiting, func(q *tree.Proposal) bool { return q.Node == occupant && q.Record().Kind != model.ProposedFile })
		if i < 0 {
			continue
		}
		if err := a.moveAside(ctx, waiting[i]); err != nil {
			a.log.Warn("names could not be exchanged", model.LogPath, string(occupant.Place().Path), model.LogErr, err)
			return false
		}
		return true
	}
	return false
}

func (l *Locked) moveAside(ctx context.Context, p *tree.Proposal) error {
	return l.moveVia(ctx, p, p.Node.Aside())
}

// giveNamesBack moves those that were moved aside, and still wait, back to their names if these
// are free.
func (l *Locked) giveNamesBack(ctx context.Context, list []*tree.Proposal) {
	for _, p := range list {
		to, ok := p.BackTo()
		if !ok {
			continue
		}
		if err := l.moveVia(ctx, p, to); err != nil {
			l.log.Warn("what gave way to another note keeps its new name", model.LogPath, string(p.Node.Place().Path), model.LogErr, err)
		}
	}
}

// moveVia moves what is proposed to be renamed to another name in its folder, and leaves the
// proposal as it is otherwise.
func (l *Locked) moveVia(ctx context.Context, p *tree.Proposal, to tree.Target) error {
	rec := p.Record()
	rec.Via = to.Rel()
	if err := l.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{rec}}); err != nil {
		return err
	}
	err := l.moveSource(ctx, p.Node, rec.Rel, rec.Via, to)
	if err == nil {
		rec.MovedVia()
		p.Update(func(r *model.ProposalRecord) { r.Aside = rec.Aside })
	} else {
		err = errors.Join(err, l.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{p.Kept()}}))
	}
	l.Settle()
	return err
}

func (a accepting) remove(ctx context.Context, p *tree.Proposal) error {
	n, st := p.Node, p.Node.State()
	if holds := n.Holds(); len(holds) > 0 {
		return a.inTheWay(holds[0].Place().Rel)
	}
	var old []byte
	var stamp model.Stamp
	var doc model.DocID
	if (n.Kind == model.KindNote || n.Kind == model.KindFile) && st.Size <= model.MaxNote {
		data, is, err := a.Source.Read(ctx, st.Rel)
		if err != nil {
			return err
		}
		old, stamp = append([]byte{}, data...), is
		if n.Kind == model.KindNote {
			doc, _ = a.Store.DocID(model.Path(st.Rel)) // without it, its authors are not known when it comes back
		}
	}
	p.Update(func(rec *model.ProposalRecord) {
		rec.Link = st.Link
		if old != nil {
			rec.Old, rec.Doc, rec.Stamp = old, doc, stamp
		}
	})
	return a.carryOut(p, func() error {
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

func (a accepting) file(ctx context.Context, p *tree.Proposal, rec model.ProposalRecord) error {
	if p.Node.State().Virtual {
		return a.carryOut(p, func() error { return a.makeFile(ctx, p.Node, rec.To(), rec.New) })
	}
	if m := model.MergerOf(a.Source, rec.Rel); m != nil {
		return a.carryOut(p, func() error { return a.merge(ctx, m, p.Node, rec.Old, rec.New) })
	}
	have, stamp, err := a.Source.Read(ctx, rec.Rel)
	if err != nil {
		return err
	}
	if rec.Stale {
		p.Update(func(rec *model.ProposalRecord) { rec.Old = append([]byte{}, have...) }) // the way back is to what a person made of it
	} else if !bytes.Equal(have, rec.Old) {
		return model.ErrStale
	}
	return a.carryOut(p, func() error {
		_, err := a.replaceDurably(ctx, p.Node, rec.Rel, stamp, have, rec.New)
		if errors.Is(err, model.ErrConflict) {
			err = model.ErrStale
		}
		return err
	})
}

// replaceDurably makes the file n hold data, for a decision that goes into the journal then. have is what the file holds.
func (l *Locked) replaceDurably(ctx context.Context, n *tree.Node, rel string, expect model.Stamp, have, data []byte) (stamp model.Stamp, err error) {
	stamp, err = l.Source.Replace(ctx, rel, model.Replacement{IfMatch: expect, Data: data, ModTime: expect.Next(time.Now())})
	if err != nil {
		return stamp, err
	}
	if err = (*Folder)(l).sync(ctx, rel); err != nil {
		back, failed := l.Source.Replace(ctx, rel, model.Replacement{IfMatch: stamp, Data: have, ModTime: stamp.Next(time.Now())})
		if failed == nil {
			stamp = back
			failed = (*Folder)(l).sync(ctx, rel) // or a power cut could take the way back
		}
		err = errors.Join(err, failed)
	}
	l.SetStamp(n, stamp)
	return stamp, err
}

// sync makes what was done at rel outlive a power cut, if the source can.
func (f *Folder) sync(ctx context.Context, rel string) error {
	if s, ok := f.Source.(model.Durable); ok {
		return s.Sync(ctx, rel)
	}
	return nil
}

// merge makes of the file n what somebody made of base.
func (l *Locked) merge(ctx context.Context, m model.FileMerger, n *tree.Node, base, data []byte) error {
	stamp, err := m.Merge(ctx, n.Place().Rel, base, data)
	if err == nil {
		l.SetStamp(n, stamp)
	}
	return err
}

// makeFile makes the source have a file that was only proposed.
func (l *Locked) makeFile(ctx context.Context, n *tree.Node, rel string, data []byte) error {
	stamp, err := l.Structure.Create(ctx, rel, model.NewFile{Data: data, Mode: 0o644, ModTime: time.Now()})
	if errors.Is(err, fs.ErrExist) {
		return model.ErrStale
	}
	if err == nil {
		l.Placed(n, stamp)
	}
	return err
}
