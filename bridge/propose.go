package bridge

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Renames and deletions: proposed, or done at once where the structure policy
// says so, or where they are about what is its author's own so far (made.go).

// Rename moves a note, file or folder within its Folder. It replaces an existing
// file only when o.Replace is set. Links that led there, or would lead elsewhere,
// are rewritten. Unless the structure policy is direct it is a proposal. Errors:
// fs.ErrNotExist, fs.ErrExist, ErrIsDir, ErrNotNote if it would make a note of
// something else or the reverse, errors.ErrUnsupported to another Folder,
// ErrNeedsReview where the policy denies it, ErrInTheWay.
func (w *Workspace) Rename(ctx context.Context, oldPath, newPath model.Path, o Restructure) (Restructured, error) {
	if err := w.mayRestructure("rename", oldPath, o); err != nil {
		return Restructured{}, err
	}
	defer w.act.Done()
	f, s, err := w.structureAt("rename", oldPath)
	if err != nil {
		return Restructured{}, err
	}
	if _, _, err := w.structureAt("rename", newPath); err != nil {
		return Restructured{}, err
	}
	if newPath.Base() != oldPath.Base() {
		if err := w.checkNew("rename", newPath); err != nil {
			return Restructured{}, err
		}
	}
	if o.Person {
		return Restructured{}, model.WrapError("rename", oldPath, w.personRenames(ctx, f, s, oldPath, newPath, o))
	}
	w.linksCurrent(ctx)
	f.names.Lock()
	m, err := w.moveOf(f, oldPath, newPath, o)
	if err == nil {
		err = w.freeAt(ctx, s, m.to)
	}
	var events []model.Event
	var rewrite *relink
	if err == nil && m.n.path() != newPath {
		rewrite = w.relinkFor(ctx, oldPath, newPath, m.n)
		events, err = w.moveTo(ctx, s, m)
	}
	f.names.Unlock()
	w.act.Publish(events...)
	if err != nil {
		return Restructured{}, model.WrapError("rename", oldPath, err)
	}
	return w.finishMove(ctx, f, m, rewrite)
}

// moving is one rename on its way.
type moving struct {
	f    *folder
	n    *node
	to   target
	from model.Path
	o    Restructure
	now  bool   // done at once, not proposed
	id   string // of the proposal it became, "" if none
	gone []string
}

func (w *Workspace) moveOf(f *folder, oldPath, newPath model.Path, o Restructure) (*moving, error) {
	n, err := w.find("rename", oldPath)
	if err != nil {
		return nil, err
	}
	if n.kindAs(newPath.Base()) != n.kind {
		return nil, &model.Error{Op: "rename", Path: newPath, Err: model.ErrNotNote}
	}
	if err := n.mayMoveTo(newPath); err != nil {
		return nil, err
	}
	now := w.o.Structure == StructureDirect || w.isOwn(n, o.By)
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	to, err := w.targetAt(n, newPath, o.Replace)
	if now && err == nil && w.o.Structure != StructureDirect {
		now = to.there == nil && to.dir.inSource(to.name) == nil
	}
	return &moving{f: f, n: n, to: to, from: oldPath, o: o, now: now}, err
}

// freeAt says whether the place that looks free is.
func (w *Workspace) freeAt(ctx context.Context, s model.Structure, to target) error {
	if to.there != nil {
		return nil
	}
	w.treeMu.RLock()
	known, at, rel := to.dir.inSource(to.name), to.dir.path().Join(to.name), path.Join(to.dir.rel(), to.name)
	w.treeMu.RUnlock()
	if known != nil {
		return nil
	}
	hidden, err := s.Hidden(ctx, rel)
	if err == nil && len(hidden) > 0 {
		err = model.ErrHidden
	}
	return model.WrapError("rename", at, err)
}

// moveTo does the rename or proposes it. names is held.
func (w *Workspace) moveTo(ctx context.Context, s model.Structure, m *moving) ([]model.Event, error) {
	if m.now && !m.n.virtual() {
		return w.moveNow(ctx, s, m)
	}
	var events []model.Event
	if m.to.there != nil {
		gone, err := w.makeWay(ctx, s, m)
		if err != nil {
			return nil, err
		}
		events = append(events, gone...)
	}
	moved, err := w.proposeMove(ctx, m)
	return append(events, moved...), err
}

// makeWay lets what is at the target go, as if it was removed.
func (w *Workspace) makeWay(ctx context.Context, s model.Structure, m *moving) ([]model.Event, error) {
	there := m.to.there
	if there.home == nil && w.isOwn(there, m.o.By) {
		return w.removeNow(ctx, m.f, s, there, there.path(), m.o)
	}
	return w.proposeDelete(ctx, m.f, there, m.o, false)
}

// moveNow renames in the source.
func (w *Workspace) moveNow(ctx context.Context, s model.Structure, m *moving) ([]model.Event, error) {
	n, to := m.n, m.to
	unlock := w.lockNotes(n)
	defer unlock()
	w.treeMu.RLock()
	oldRel, newRel := n.rel(), path.Join(to.dir.rel(), to.name)
	inSource := to.dir.inSource(to.name)
	w.treeMu.RUnlock()
	if inSource != nil && inSource != to.there && inSource != n {
		return nil, &model.Error{Op: "rename", Path: to.dir.path().Join(to.name), Err: model.ErrInTheWay}
	}
	if to.there != nil && to.there.home != nil && !to.there.virtual() {
		if err := s.Remove(ctx, to.there.rel()); err != nil {
			return nil, err
		}
	}
	if oldRel != newRel {
		if err := s.Rename(ctx, oldRel, newRel, inSource != nil && inSource == to.there); err != nil {
			return nil, err
		}
	}
	err := w.fulfil(m.f, n)
	w.treeMu.Lock()
	if to.there != nil {
		w.vanishTree(to.there, false)
	}
	n.parent.usedBy(m.o.By)
	n.rehome(to.dir, to.name)
	n.show(to.dir, to.name)
	n.parent.usedBy(m.o.By)
	w.treeMu.Unlock()
	err = errors.Join(err, m.f.store.Rename(model.Path(oldRel), model.Path(newRel)))
	w.canvasesFollow(ctx, m.f, oldRel, newRel)
	events := w.settle(m.f)
	return append(events, m.event()), err
}

func (m *moving) event() model.Event {
	return model.Event{
		Kind: model.EventRenamed, Path: m.n.path(), OldPath: m.from, Dir: m.n.kind == model.KindDir, ViewChanged: true, Origin: m.o.Origin,
	}
}

// proposeMove shows n at its new place and keeps the proposal, one for all its
// renames: back at its home there is none.
func (w *Workspace) proposeMove(ctx context.Context, m *moving) ([]model.Event, error) {
	n, to := m.n, m.to
	stamp, sum, err := w.stateOf(ctx, n)
	if err != nil {
		return nil, err
	}
	p := n.pending
	switch {
	case n.virtual():
		p = n.content
	case p == nil:
		p = &proposal{node: n, rec: model.ProposalRecord{
			ID: newProposalID(), Kind: model.ProposedRename, Dir: n.kind == model.KindDir, Time: time.Now().UTC(), Stamp: stamp, Sum: sum,
		}}
	}
	w.treeMu.RLock()
	back := n.home != nil && *n.home == home{to.dir, to.name}
	rec := p.rec
	rec.Rel, rec.ToDir, rec.Name = n.rel(), to.dir.rel(), to.name
	rec.Author, rec.Session = m.o.By.Name, m.o.By.Session
	w.treeMu.RUnlock()
	change := model.ProposalChange{Put: []model.ProposalRecord{rec}}
	if back {
		change = model.ProposalChange{Drop: []string{rec.ID}}
		m.gone = append(m.gone, rec.ID)
	} else if !n.virtual() {
		m.id = rec.ID
	}
	if err := m.f.store.Propose(change); err != nil {
		return nil, err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	switch {
	case back:
		m.f.withdraw(p)
	case n.pending == nil && n.content != p:
		n.pending = p
		m.f.proposals = append(m.f.proposals, p)
	}
	p.rec, p.kept = rec, rec
	n.show(to.dir, to.name)
	return []model.Event{m.event()}, nil
}

// stateOf names the state of what a proposal is about.
func (w *Workspace) stateOf(ctx context.Context, n *node) (model.Stamp, model.ContentSum, error) {
	switch n.kind {
	case model.KindDir:
		return model.Stamp{}, model.ContentSum{}, nil
	case model.KindFile, model.KindLink:
		w.treeMu.RLock()
		defer w.treeMu.RUnlock()
		return model.Stamp{Size: n.size, ModTime: n.modTime.UnixNano()}, model.ContentSum{}, nil
	}
	return n.note.State(ctx)
}

// Remove takes a note, a file or an empty folder away, recoverably where the
// source has a place for that. Unless the structure policy is direct it is a
// proposal, and ErrTooMany stops a burst of them (see Brake).
func (w *Workspace) Remove(ctx context.Context, p model.Path, o Restructure) (Restructured, error) {
	if err := w.mayRestructure("remove", p, o); err != nil {
		return Restructured{}, err
	}
	defer w.act.Done()
	f, s, err := w.structureAt("remove", p)
	if err != nil {
		return Restructured{}, err
	}
	if o.Person {
		return Restructured{}, model.WrapError("remove", p, w.personRemoves(ctx, f, s, p, o))
	}
	f.names.Lock()
	res, dropped, events, err := w.remove(ctx, f, s, p, o)
	f.names.Unlock()
	w.act.Publish(events...)
	if err != nil {
		return Restructured{}, model.WrapError("remove", p, err)
	}
	w.rejectLinks(ctx, dropped, o.By)
	return res, nil
}

func (w *Workspace) remove(ctx context.Context, f *folder, s model.Structure, p model.Path, o Restructure) (res Restructured, dropped []string, events []model.Event, err error) {
	n, err := w.find("remove", p)
	if err != nil {
		return res, nil, nil, err
	}
	w.treeMu.RLock()
	full := len(n.children) > 0
	holds := len(n.sourceChildren()) > 0 // what is only shown elsewhere, or proposed to be deleted
	if n.pending != nil {
		dropped = append(dropped, n.pending.rec.ID)
	}
	w.treeMu.RUnlock()
	switch {
	case full:
		return res, nil, nil, &model.Error{Op: "remove", Path: p, Err: model.ErrNotEmpty}
	case n.kind == model.KindDir:
		if err := w.emptyAt(ctx, s, n); err != nil {
			return res, nil, nil, err
		}
	}
	switch {
	case !n.virtual() && (w.o.Structure == StructureDirect || !holds && w.isOwn(n, o.By)):
		events, err = w.removeNow(ctx, f, s, n, p, o)
		return res, dropped, events, err
	}
	virtual := n.virtual()
	events, err = w.proposeDelete(ctx, f, n, o, true)
	if err == nil && !virtual {
		res.Proposal = n.pending.rec.ID
	}
	return res, dropped, events, err
}

// emptyAt says whether the folder that looks empty is.
func (w *Workspace) emptyAt(ctx context.Context, s model.Structure, n *node) error {
	w.treeMu.RLock()
	rel, at := n.rel(), n.path()
	w.treeMu.RUnlock()
	hidden, err := s.Hidden(ctx, rel)
	if err == nil && len(hidden) > 0 {
		err = &model.NotEmptyError{Holds: hidden}
		w.log.Warn("folder cannot be removed", model.LogPath, string(at), model.LogErr, err)
	}
	return model.WrapError("remove", at, err)
}

// removeNow removes from the source.
func (w *Workspace) removeNow(ctx context.Context, f *folder, s model.Structure, n *node, p model.Path, o Restructure) ([]model.Event, error) {
	unlock := w.lockNotes(n)
	defer unlock()
	if err := s.Remove(ctx, n.rel()); err != nil {
		return nil, err
	}
	err := w.fulfil(f, n)
	w.treeMu.Lock()
	w.vanishTree(n, false)
	w.treeMu.Unlock()
	return append(w.settle(f), model.Event{Kind: model.EventRemoved, Path: p, Dir: n.kind == model.KindDir, ViewChanged: true, Origin: o.Origin}), err
}

// fulfil forgets the proposal to rename n, which has just been done, or something
// else in its place.
func (w *Workspace) fulfil(f *folder, n *node) error {
	w.treeMu.Lock()
	p := n.pending
	if p != nil {
		f.withdraw(p)
	}
	w.treeMu.Unlock()
	if p == nil {
		return nil
	}
	return f.store.Propose(model.ProposalChange{Drop: []string{p.rec.ID}})
}

// proposeDelete hides n and keeps the proposal. Whatever else was proposed for n
// is withdrawn; what nobody has but the proposal stays in the journal.
func (w *Workspace) proposeDelete(ctx context.Context, f *folder, n *node, o Restructure, braked bool) ([]model.Event, error) {
	if braked && !o.Confirm && n.kind == model.KindNote {
		if err := w.brakes(f, o.By, 0); err != nil {
			return nil, err
		}
	}
	stamp, sum, err := w.stateOf(ctx, n)
	if err != nil {
		return nil, err
	}
	w.treeMu.RLock()
	ev := model.Event{Kind: model.EventRemoved, Path: n.path(), Dir: n.kind == model.KindDir, ViewChanged: true, Origin: o.Origin}
	p := &proposal{node: n, rec: model.ProposalRecord{
		ID: newProposalID(), Kind: model.ProposedDelete, Rel: n.rel(), Dir: n.kind == model.KindDir, Author: o.By.Name, Session: o.By.Session,
		Time: time.Now().UTC(), Stamp: stamp, Sum: sum,
	}}
	var change model.ProposalChange
	if !n.virtual() {
		change.Put = []model.ProposalRecord{p.rec}
	}
	if n.pending != nil {
		change.Drop = append(change.Drop, n.pending.rec.ID)
	}
	if n.content != nil {
		rec := n.content.record()
		change.Drop = append(change.Drop, rec.ID)
		change.Journal = append(change.Journal, rec.Decided(model.Decision{Batch: newBatch(), Verdict: model.Rejected, By: o.By.Name, Lapsed: true}, p.rec.Time))
	}
	w.treeMu.RUnlock()
	if err := f.store.Propose(change); err != nil {
		return nil, err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	for _, old := range []*proposal{n.pending, n.content} {
		if old != nil {
			f.withdraw(old)
		}
	}
	if n.virtual() {
		n.forget()
		return []model.Event{ev}, nil
	}
	p.kept, n.pending = p.rec, p
	f.proposals = append(f.proposals, p)
	n.hide()
	if n.kind == model.KindNote {
		f.brake.note(p)
	}
	return []model.Event{ev}, nil
}

// brakes stops a burst of deletions: see Brake. more of them are on their way.
func (w *Workspace) brakes(f *folder, by model.Author, more int) error {
	n := f.brake.recent(by, w.waits) + more
	if n < leastBrake {
		return nil
	}
	w.treeMu.RLock()
	notes := 0
	f.node.walk(func(c *node) {
		if c.kind == model.KindNote {
			notes++
		}
	})
	w.treeMu.RUnlock()
	limit := brakeLimit(notes + n)
	if n < limit {
		return nil
	}
	return fmt.Errorf("%w: %d of %d notes of %q within a minute; have a person decide on them (relayfs suggestions list), "+
		"or wait a minute and go on, or confirm where that can be said", model.ErrTooMany, n, notes+n, f.node.name)
}

func (w *Workspace) waits(p *proposal) bool {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return p.node.pending == p
}

// Brake says, as ErrTooMany, whether the removal of the note at p by the author,
// after that of more others that are about to go, would be one too many: at most
// 20 notes, or a tenth of the Folder if that is less, but five in any case, may
// go within a minute before a person has decided on any of them.
func (w *Workspace) Brake(p model.Path, by model.Author, more int) error {
	f, _, err := w.structureAt("remove", p)
	if err != nil || w.o.Structure != StructurePropose {
		return err
	}
	return model.WrapError("remove", p, w.brakes(f, by, more))
}
