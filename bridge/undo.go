package bridge

import (
	"bytes"
	"context"
	"errors"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file takes decisions on proposals back: what was done in the source is
// undone there, and the proposal waits again, shown as done.

// errElsewhere says that what a decision was about has changed too much since.
var errElsewhere = errors.New("cannot be taken back: it is not where the decision left it")

// undoProposals takes back decisions on proposals, the newest first.
func (w *Workspace) undoProposals(ctx context.Context, left []model.JournalEntry, by model.Author, out *Outcome) {
	ctx = context.WithoutCancel(ctx)
	for again := true; again && len(left) > 0; {
		again = false
		var waiting []model.JournalEntry
		for _, e := range left {
			pub, err := w.undoProposal(ctx, e, model.Decision{Batch: out.Batch, Verdict: model.Undone, By: by.Name, Undoes: e.Decision.Batch})
			if err != nil {
				out.Failed[e.Path] = err
				waiting = append(waiting, e)
				continue
			}
			delete(out.Failed, e.Path)
			out.Proposals = append(out.Proposals, pub)
			out.Notes++
			again = true
		}
		left = waiting
	}
}

func (w *Workspace) undoProposal(ctx context.Context, e model.JournalEntry, d model.Decision) (model.Proposal, error) {
	f, s, err := w.structureAt("undo", e.Path)
	if err != nil {
		return model.Proposal{}, err
	}
	f.names.Lock()
	defer f.names.Unlock()
	rec := *e.Decision.Proposal
	rec.Accepting, rec.Via = nil, ""
	u := undoing{w: w, f: f, s: s, rec: rec, d: d}
	w.treeMu.RLock()
	err = u.look(e.Decision.Verdict == model.Accepted)
	w.treeMu.RUnlock()
	if err == nil && e.Decision.Verdict == model.Accepted {
		err = u.revert(ctx)
	}
	if err != nil {
		return model.Proposal{}, model.WrapError("undo", e.Path, err)
	}
	if u.n != nil && rec.Kind != model.ProposedFile { // it waits for a decision on what is there now
		if stamp, sum, err := w.stateOf(ctx, u.n); err == nil {
			u.rec.Stamp, u.rec.Sum = stamp, sum
		}
	}
	events, err := u.propose()
	f.names.tell(append(events, w.settle(f)...)...)
	if err != nil {
		return model.Proposal{}, model.WrapError("undo", e.Path, err)
	}
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return u.p.public(), nil
}

// undoing is one decision that is being taken back.
type undoing struct {
	w   *Workspace
	f   *folder
	s   model.Structure
	rec model.ProposalRecord
	d   model.Decision

	n   *node // what it is about, nil if it is not there
	dir *node // where it is to be shown, nil if it is not
	p   *proposal
}

// look finds what the decision was about, and that it can be taken back.
// treeMu is held.
func (u *undoing) look(accepted bool) error {
	rec := u.rec
	at := rec.Rel
	if accepted && (rec.Kind == model.ProposedRename || at == "") {
		at = rec.To()
	}
	if at != "" {
		u.n = u.f.lookupSource(at)
	}
	if rec.Kind == model.ProposedRename || rec.Rel == "" {
		u.dir = u.f.lookupSource(rec.ToDir)
		if u.dir == nil || !u.dir.shown() {
			return errElsewhere
		}
	}
	switch {
	case accepted && rec.Kind == model.ProposedDelete:
		return u.lookForFree(rec.Rel)
	case u.n == nil && rec.Rel == "" && !accepted:
		if u.dir.children[rec.Name] != nil {
			return errElsewhere
		}
		return nil
	case u.n == nil, u.n.virtual():
		return errElsewhere
	case rec.Kind == model.ProposedFile && u.n.content != nil, rec.Kind != model.ProposedFile && u.n.pending != nil:
		return errElsewhere
	case accepted && rec.Kind == model.ProposedRename:
		return u.lookForFree(rec.Rel)
	case rec.Kind == model.ProposedRename && (u.dir.children[rec.Name] != nil || u.dir.isIn(u.n)):
		return errElsewhere
	case rec.Kind == model.ProposedDelete && len(u.n.children) > 0:
		return errElsewhere
	}
	return nil
}

// lookForFree says whether the source has nothing at rel, in a folder it has.
func (u *undoing) lookForFree(rel string) error {
	dir := u.f.lookupSource(string(model.Path(rel).Dir()))
	if dir == nil || dir.kind != model.KindDir || dir.inSource(path.Base(rel)) != nil {
		return errElsewhere
	}
	return nil
}

// revert undoes in the source what was accepted. What a crash leaves of it is
// found out by the next process.
func (u *undoing) revert(ctx context.Context) error {
	begun := u.rec
	begun.Accepting = &u.d
	if err := u.f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{begun}}); err != nil {
		return err
	}
	err := u.revertSource(ctx)
	if err != nil {
		err = errors.Join(err, u.f.store.Propose(model.ProposalChange{Drop: []string{u.rec.ID}}))
	}
	return err
}

func (u *undoing) revertSource(ctx context.Context) error {
	switch u.rec.Kind {
	case model.ProposedRename:
		dir := u.f.lookupSource(string(model.Path(u.rec.Rel).Dir()))
		return u.w.moveSource(ctx, u.f, u.s, u.n, u.rec.To(), u.rec.Rel, home{dir, path.Base(u.rec.Rel)})
	case model.ProposedDelete:
		return u.bringBack(ctx)
	}
	return u.revertFile(ctx)
}

// bringBack makes again what was deleted.
func (u *undoing) bringBack(ctx context.Context) error {
	e := model.SourceEntry{Rel: u.rec.Rel, Dir: u.rec.Dir, Mode: 0o644, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}
	var err error
	switch {
	case u.rec.Dir:
		e.Mode = 0o755
		err = u.s.Mkdir(ctx, u.rec.Rel)
	case u.rec.Link != "":
		linker, ok := u.s.(model.Linker)
		if !ok {
			return errors.ErrUnsupported
		}
		e, err = linker.MakeLink(ctx, u.rec.Rel, u.rec.Link)
	case u.rec.Old == nil:
		err = errors.New("is too large to be brought back from here; it is in the trash")
	default:
		e.Stamp, err = u.s.Create(ctx, u.rec.Rel, model.NewFile{Data: u.rec.Old, Mode: 0o644, ModTime: time.Now()})
	}
	if err == nil {
		u.bringDocBack()
		u.putHidden(e)
		u.rec.Stamp, u.rec.Sum = e.Stamp, model.SumOf(string(u.rec.Old))
		u.rec.Old, u.rec.Link, u.rec.Stale = nil, "", false
		if u.n.kind == model.KindFile || u.n.kind == model.KindLink {
			u.rec.Stamp = model.Stamp{Size: e.Stamp.Size, ModTime: e.Stamp.ModTime}
		}
	}
	return err
}

// bringDocBack lets the note that was brought back have its document again, with
// who wrote what.
func (u *undoing) bringDocBack() {
	at := model.Path(u.rec.Rel)
	if have, err := u.f.store.DocID(at); u.rec.Doc == "" || err == nil && have == u.rec.Doc {
		return
	}
	seq, err := u.f.store.Append(u.rec.Doc, at, model.Record{Update: model.EmptyUpdate(), Time: time.Now().UTC()})
	if err != nil {
		u.w.log.Warn("note comes back without its history", model.LogPath, u.rec.Rel, model.LogErr, err)
		return
	}
	u.f.store.Materialized(u.rec.Doc, seq, model.SumOf(string(u.rec.Old)))
}

// putHidden puts what was brought back in the tree without showing it: it is
// proposed to be deleted again.
func (u *undoing) putHidden(e model.SourceEntry) {
	u.w.treeMu.Lock()
	defer u.w.treeMu.Unlock()
	dir, name := u.f.lookupSource(string(model.Path(e.Rel).Dir())), path.Base(e.Rel)
	u.n = u.w.newNode(dir, name, e.Kind())
	u.n.update(e)
	u.n.parent, u.n.home = nil, &home{dir, name}
	dir.sendAway(name, u.n)
}

func (u *undoing) revertFile(ctx context.Context) error {
	rel := u.n.rel()
	have, stamp, err := u.f.source.Read(ctx, rel)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, u.rec.New) {
		return errElsewhere
	}
	if u.rec.Rel == "" {
		if err := u.s.Remove(ctx, rel); err != nil {
			return err
		}
		u.w.treeMu.Lock()
		defer u.w.treeMu.Unlock()
		u.n.home = new(home)
		return nil
	}
	if stamp, err = u.f.source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: u.rec.Old, ModTime: time.Now()}); err != nil {
		return err
	}
	u.w.treeMu.Lock()
	defer u.w.treeMu.Unlock()
	u.n.update(model.SourceEntry{Mode: u.n.mode, Stamp: stamp})
	u.rec.Stamp = model.Stamp{Size: stamp.Size, ModTime: stamp.ModTime}
	return nil
}

// propose lets the proposal wait again, and shows it as done.
func (u *undoing) propose() ([]model.Event, error) {
	rec := u.rec
	change := model.ProposalChange{Put: []model.ProposalRecord{rec}, Journal: []model.Record{rec.Decided(u.d, time.Now().UTC())}}
	if err := u.f.store.Propose(change); err != nil {
		return nil, err
	}
	w, n := u.w, u.n
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	u.p = &proposal{node: n, rec: rec, kept: rec}
	if n == nil {
		w.showFile(u.f, u.p, u.dir)
		return []model.Event{u.p.node.event(model.EventCreated)}, nil
	}
	u.f.proposals = append(u.f.proposals, u.p)
	if rec.Kind == model.ProposedFile {
		n.content = u.p
		return []model.Event{n.event(model.EventChanged)}, nil
	}
	n.pending = u.p
	if !n.shown() {
		return nil, nil
	}
	if rec.Kind == model.ProposedDelete {
		ev := n.event(model.EventRemoved)
		n.hide()
		return []model.Event{ev}, nil
	}
	ev := model.Event{Kind: model.EventRenamed, OldPath: n.path(), Dir: n.kind == model.KindDir, ViewChanged: true}
	n.show(u.dir, rec.Name)
	if ev.Path = n.path(); ev.Path == ev.OldPath {
		return []model.Event{{Kind: model.EventPending, Path: ev.Path, Dir: ev.Dir}}, nil
	}
	return []model.Event{ev}, nil
}
