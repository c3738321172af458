package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file carries out what people accept: in the source first, between two
// notes in the Store, so that the next process finds out what a crash left.

// acceptAll accepts proposals of one folder in whatever order is possible, and
// tells for each what went wrong, if anything. names is held.
func (w *Workspace) acceptAll(ctx context.Context, f *folder, left []*proposal, d model.Decision, force bool) map[*proposal]error {
	failed := make(map[*proposal]error)
	asides := 0
	for len(left) > 0 {
		var waiting []*proposal
		for _, p := range left {
			err := w.accept(ctx, f, p, d, force)
			if errors.Is(err, model.ErrInTheWay) {
				waiting = append(waiting, p)
			}
			if failed[p] = err; err == nil {
				delete(failed, p)
			}
		}
		if len(waiting) == len(left) {
			if asides++; asides > len(waiting) || !w.stepAside(ctx, f, waiting) {
				break
			}
		}
		left = waiting
	}
	return failed
}

// accept carries out one proposal.
func (w *Workspace) accept(ctx context.Context, f *folder, p *proposal, d model.Decision, force bool) error {
	s, ok := f.source.(model.Structure)
	if !ok {
		return model.ErrReadOnly
	}
	w.noticeChange(ctx, p.node)
	if p.rec.Stale && !force {
		return model.ErrStale
	}
	switch p.rec.Kind {
	case model.ProposedRename:
		return w.acceptMove(ctx, f, s, p, d)
	case model.ProposedDelete:
		return w.acceptDelete(ctx, f, s, p, d)
	}
	return w.acceptFile(ctx, f, s, p, d)
}

// carryOut notes in the Store that a decision is being carried out, does so, and
// notes what came of it: the journal's entry, and the proposal gone.
func (w *Workspace) carryOut(f *folder, p *proposal, d model.Decision, do func() error) error {
	w.treeMu.RLock()
	rec := p.record()
	w.treeMu.RUnlock()
	begun := rec
	begun.Accepting = &d
	if err := f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{begun}}); err != nil {
		return err
	}
	w.used(p.node)
	if err := do(); err != nil {
		return errors.Join(err, f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{rec}}))
	}
	w.treeMu.Lock()
	f.withdraw(p)
	change := model.ProposalChange{Drop: []string{rec.ID}, Journal: []model.Record{rec.Decided(d, time.Now().UTC())}}
	for _, other := range f.proposals {
		if now := other.record(); !now.SameAs(&other.kept) {
			other.rec, other.kept = now, now
			change.Put = append(change.Put, now)
		}
	}
	w.treeMu.Unlock()
	if err := f.store.Propose(change); err != nil {
		w.log.Error("a decision that was carried out is not in the journal yet", model.LogPath, rec.Rel, model.LogErr, err)
	}
	return nil
}

func inTheWay(f *folder, rel string) error {
	return fmt.Errorf("%q %w: decide on what is proposed for it first, or together", f.node.name+"/"+rel, model.ErrInTheWay)
}

func (w *Workspace) acceptMove(ctx context.Context, f *folder, s model.Structure, p *proposal, d model.Decision) error {
	n := p.node
	w.treeMu.RLock()
	oldRel, dir, name := n.rel(), n.parent, n.name
	newRel := path.Join(dir.rel(), name)
	occupant := dir.inSource(name)
	w.treeMu.RUnlock()
	if occupant != nil || model.Rebased(newRel, oldRel, "") != newRel {
		return inTheWay(f, newRel)
	}
	return w.carryOut(f, p, d, func() error { return w.moveSource(ctx, f, s, n, oldRel, newRel, home{dir, name}) })
}

// moveSource renames in the source what is shown elsewhere already, or stays so.
func (w *Workspace) moveSource(ctx context.Context, f *folder, s model.Structure, n *node, oldRel, newRel string, to home) error {
	unlock := w.lockNotes(n)
	defer unlock()
	if err := s.Rename(ctx, oldRel, newRel, false); err != nil {
		return err
	}
	w.treeMu.Lock()
	n.rehome(to.parent, to.name)
	for _, p := range f.proposals {
		for i := range p.rec.Links {
			p.rec.Links[i].Rel = model.Rebased(p.rec.Links[i].Rel, oldRel, newRel)
		}
	}
	w.treeMu.Unlock()
	w.renameDocs(f, oldRel, newRel)
	w.canvasesFollow(ctx, f, oldRel, newRel)
	return nil
}

// renameDocs lets the Store follow a rename. What it misses it finds out when a
// document is written next.
func (w *Workspace) renameDocs(f *folder, oldRel, newRel string) {
	if err := f.store.Rename(model.Path(oldRel), model.Path(newRel)); err != nil {
		w.log.Error("renamed documents keep their old paths in the store", model.LogPath, newRel, model.LogErr, err)
	}
}

// stepAside moves one of several that wait for each other to a free name, so that
// the others can go on.
func (w *Workspace) stepAside(ctx context.Context, f *folder, waiting []*proposal) bool {
	for _, p := range waiting {
		if p.rec.Kind != model.ProposedRename {
			continue
		}
		w.treeMu.RLock()
		occupant := p.node.parent.inSource(p.node.name)
		w.treeMu.RUnlock()
		i := slices.IndexFunc(waiting, func(q *proposal) bool { return q.node == occupant && q.rec.Kind == model.ProposedRename })
		if i < 0 {
			continue
		}
		if err := w.moveAside(ctx, f, waiting[i]); err != nil {
			w.log.Warn("names could not be exchanged", model.LogPath, string(occupant.path()), model.LogErr, err)
			return false
		}
		return true
	}
	return false
}

func (w *Workspace) moveAside(ctx context.Context, f *folder, p *proposal) error {
	w.treeMu.RLock()
	from := p.node.place()
	name := from.parent.freeName(from.name)
	rec := p.record()
	w.treeMu.RUnlock()
	rec.Via = path.Join(from.parent.rel(), name)
	if err := f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{rec}}); err != nil {
		return err
	}
	err := w.moveSource(ctx, f, f.source.(model.Structure), p.node, rec.Rel, rec.Via, home{from.parent, name})
	w.treeMu.Lock()
	p.rec = p.record()
	p.kept = model.ProposalRecord{} // with Via, which settle takes away again
	w.treeMu.Unlock()
	w.settle(f)
	return err
}

func (w *Workspace) acceptDelete(ctx context.Context, f *folder, s model.Structure, p *proposal, d model.Decision) error {
	n := p.node
	w.treeMu.RLock()
	rel, inside := n.rel(), n.sourceChildren()
	w.treeMu.RUnlock()
	if len(inside) > 0 {
		return inTheWay(f, path.Join(rel, inside[0].place().name))
	}
	if (n.kind == model.KindNote || n.kind == model.KindFile) && n.size <= model.MaxNote {
		data, _, err := f.source.Read(ctx, rel)
		if err != nil {
			return err
		}
		var doc model.DocID
		if n.kind == model.KindNote {
			doc, _ = f.store.DocID(model.Path(rel)) // without it, its authors are not known when it comes back
		}
		w.treeMu.Lock()
		p.rec.Old, p.rec.Doc = append([]byte{}, data...), doc
		w.treeMu.Unlock()
	}
	w.treeMu.Lock()
	p.rec.Link = n.link
	w.treeMu.Unlock()
	return w.carryOut(f, p, d, func() error {
		unlock := w.lockNotes(n)
		defer unlock()
		if err := s.Remove(ctx, rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.treeMu.Lock()
		defer w.treeMu.Unlock()
		w.forget(n)
		return nil
	})
}

func (w *Workspace) acceptFile(ctx context.Context, f *folder, s model.Structure, p *proposal, d model.Decision) error {
	w.treeMu.RLock()
	virtual := p.node.virtual()
	rec := p.record()
	w.treeMu.RUnlock()
	if virtual {
		return w.carryOut(f, p, d, func() error { return w.makeFile(ctx, s, p.node, rec.To(), rec.New) })
	}
	have, stamp, err := f.source.Read(ctx, rec.Rel)
	if err != nil {
		return err
	}
	if rec.Stale {
		w.treeMu.Lock()
		p.rec.Old = append([]byte{}, have...) // the way back is to what a person made of it
		w.treeMu.Unlock()
	} else if !bytes.Equal(have, rec.Old) {
		return model.ErrStale
	}
	return w.carryOut(f, p, d, func() error {
		stamp, err := f.source.Replace(ctx, rec.Rel, model.Replacement{Expect: stamp, Data: rec.New, ModTime: time.Now()})
		if errors.Is(err, model.ErrConflict) {
			err = model.ErrStale
		}
		if err == nil {
			w.treeMu.Lock()
			p.node.update(model.SourceEntry{Mode: p.node.mode, Stamp: stamp})
			w.treeMu.Unlock()
		}
		return err
	})
}

// makeFile makes the source have a file that was only proposed.
func (w *Workspace) makeFile(ctx context.Context, s model.Structure, n *node, rel string, data []byte) error {
	stamp, err := s.Create(ctx, rel, model.NewFile{Data: data, Mode: 0o644, ModTime: time.Now()})
	if errors.Is(err, fs.ErrExist) {
		return model.ErrStale
	}
	if err != nil {
		return err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n.home = nil
	n.update(model.SourceEntry{Mode: 0o644, Stamp: stamp})
	return nil
}
