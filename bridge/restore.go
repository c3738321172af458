package bridge

import (
	"bytes"
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file shows the pending proposals of earlier processes again.

// restore lays the pending proposals over the tree, which shows the source so far.
// Nobody is served yet.
func (w *Workspace) restore(ctx context.Context, f *folder) error {
	recs, err := f.store.Proposals()
	if err == nil {
		recs, err = w.recoverAll(ctx, f, recs)
	}
	if err != nil || len(recs) == 0 {
		return err
	}
	w.treeMu.Lock()
	for _, rec := range recs {
		w.restoreOne(f, rec)
	}
	w.placeRestored(f)
	w.treeMu.Unlock()
	for _, p := range f.proposals {
		w.noticeChange(ctx, p.node)
	}
	w.settle(f)
	return nil
}

// restoreOne attaches a proposal to its node, which leaves its place; a proposal
// about something that is gone is dropped. treeMu is held.
func (w *Workspace) restoreOne(f *folder, rec model.ProposalRecord) {
	p := &proposal{rec: rec, kept: rec}
	n := f.lookupSource(rec.Rel)
	if rec.Rel == "" {
		if dir := f.lookupSource(rec.ToDir); dir != nil && dir.kind == model.KindDir && dir.children[rec.Name] == nil {
			w.showFile(f, p, dir)
			return
		}
		n = f.lookupSource(rec.To())
		p.rec.Stale = true // somebody else made it
	}
	if n == nil || n == f.node || (n.kind == model.KindDir) != rec.Dir || (n.kind != model.KindFile) && rec.Kind == model.ProposedFile {
		f.shift.dropped = append(f.shift.dropped, p)
		return
	}
	p.node = n
	f.proposals = append(f.proposals, p)
	if rec.Kind == model.ProposedFile {
		n.content = p
		return
	}
	n.pending = p
	n.hide()
}

// placeRestored shows what is proposed to be renamed at its new place, all the
// others having left theirs, or at home if there is no such place any more.
func (w *Workspace) placeRestored(f *folder) {
	var homeless []*node
	for _, p := range f.proposals {
		if p.rec.Kind != model.ProposedRename {
			continue
		}
		dir := f.lookupSource(p.rec.ToDir)
		if dir == nil || dir.kind != model.KindDir || dir.children[p.rec.Name] != nil || dir.isIn(p.node) {
			homeless = append(homeless, p.node)
			continue
		}
		p.node.show(dir, p.rec.Name)
		if p.node.home == nil { // a person did it
			f.shift.done = append(f.shift.done, p.rec.ID)
			p.node.pending = nil
		}
	}
	for _, id := range f.shift.done {
		for _, p := range f.proposals {
			if p.rec.ID == id {
				f.withdraw(p)
			}
		}
	}
	for _, n := range homeless {
		if n.home != nil { // another one has not sent it home yet
			w.sendHome(n)
		}
	}
	for _, p := range append([]*proposal(nil), f.proposals...) {
		switch n := p.node; {
		case p.rec.Kind == model.ProposedDelete && n.hidden() && len(n.children) > 0:
			w.sendHome(n) // people put something in
		case n.parent != nil:
			w.reveal(n.parent)
		}
	}
}

// recoverAll finds out what became of decisions that a crash interrupted.
func (w *Workspace) recoverAll(ctx context.Context, f *folder, recs []model.ProposalRecord) ([]model.ProposalRecord, error) {
	var change model.ProposalChange
	var left []model.ProposalRecord
	for i := range recs {
		rec := &recs[i]
		if rec.Via != "" && f.lookupSource(rec.Rel) == nil && f.lookupSource(rec.Via) != nil {
			if err := f.store.Rename(model.Path(rec.Rel), model.Path(rec.Via)); err != nil {
				return nil, err
			}
			rec.Rel = rec.Via
		}
		d := rec.Accepting
		if d == nil && rec.Via == "" {
			left = append(left, *rec)
			continue
		}
		rec.Accepting, rec.Via = nil, ""
		pending, decided := w.recoverOne(ctx, f, rec, d)
		if decided {
			change.Journal = append(change.Journal, rec.Decided(*d, time.Now().UTC()))
		}
		if decided && rec.Kind == model.ProposedRename {
			from, to := rec.Rel, rec.To()
			if pending {
				from, to = to, from
			}
			if err := f.store.Rename(model.Path(from), model.Path(to)); err != nil {
				return nil, err
			}
			own := *rec
			rebaseAll(recs, from, to)
			rebaseAll(left, from, to)
			*rec = own
			change.Put = append(change.Put, left...)
		}
		if pending {
			left = append(left, *rec)
			change.Put = append(change.Put, *rec)
			continue
		}
		change.Drop = append(change.Drop, rec.ID)
	}
	if len(change.Put)+len(change.Drop) == 0 {
		return left, nil
	}
	return left, f.store.Propose(change)
}

// recoverOne says whether the proposal is pending, and whether the decision that
// was interrupted has been carried out: an acceptance that was leaves nothing
// pending, one that was taken back does, and the reverse.
func (w *Workspace) recoverOne(ctx context.Context, f *folder, rec *model.ProposalRecord, d *model.Decision) (pending, decided bool) {
	if d == nil {
		return true, false
	}
	there := f.lookupSource(rec.Rel) != nil
	done := !there
	switch rec.Kind {
	case model.ProposedRename:
		done = !there && f.lookupSource(rec.To()) != nil
	case model.ProposedFile:
		rel := rec.Rel
		if rel == "" {
			rel = rec.To()
		}
		data, _, err := f.source.Read(ctx, rel)
		done = err == nil && bytes.Equal(data, rec.New)
	}
	if d.Verdict == model.Undone {
		return !done, !done
	}
	return !done, done
}

// rebaseAll follows the move of a file or folder in the source.
func rebaseAll(recs []model.ProposalRecord, oldRel, newRel string) {
	for i := range recs {
		recs[i].Rebase(oldRel, newRel)
	}
}

// recoverNotes brings the files of a Folder up to what a crash has kept from them.
func (w *Workspace) recoverNotes(ctx context.Context, f *folder) error {
	if _, live := f.source.(model.Documents); live {
		return nil
	}
	unsettled, err := f.store.Unsettled()
	if err != nil {
		return err
	}
	for _, p := range unsettled {
		n := w.source(f, string(p))
		if n == nil || n.note == nil {
			continue
		}
		if _, err := n.note.Version(ctx); err != nil { // who reads it is told again
			w.log.Warn("note not recovered", model.LogPath, string(n.Place().Path), model.LogErr, err)
		}
	}
	return nil
}
