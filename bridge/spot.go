package bridge

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// spot is a place for something new: where it is shown, and where the source is
// to have it. The two differ where the source still has something at the name
// that is shown elsewhere.
type spot struct {
	dir  *node // nil if the folder is yet to be made, by the source
	name string
	rel  string
}

// placeFor finds the place for something new at p. What is proposed to be deleted
// there is shown again, and errWasDeleted says so. names is held.
func (w *Workspace) placeFor(ctx context.Context, f *folder, s model.Structure, p model.Path, dir bool, o Restructure) (spot, []model.Event, error) {
	parent, events, err := w.folderFor(ctx, f, s, p.Dir(), o)
	if err != nil {
		return spot{}, events, err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	if parent == nil {
		return spot{rel: w.sourcePath(p)}, events, nil
	}
	name := p.Base()
	here := spot{parent, name, path.Join(parent.rel(), name)}
	shown, had := parent.child(name), parent.inSource(name)
	switch {
	case shown != nil && shown.home != nil:
		return spot{}, events, &model.Error{Op: "create", Path: p, Err: fs.ErrExist}
	case shown != nil, had == nil:
		return here, events, nil
	case had.hidden() && had.kind == model.KindOf(name, dir):
		ev, err := w.bringBack(f, had, o.Origin)
		if err == nil {
			events, err = append(events, ev), errWasDeleted
		}
		return spot{}, events, err
	}
	here.rel = path.Join(parent.rel(), parent.freeName(name))
	return here, events, nil
}

// folderFor is the folder at p; nil if it is missing and the source may make it.
// Where it may not, because it has something else at the name, it is made here.
func (w *Workspace) folderFor(ctx context.Context, f *folder, s model.Structure, p model.Path, o Restructure) (*node, []model.Event, error) {
	if n, err := w.find("create", p); err == nil {
		if n.kind != model.KindDir {
			return nil, nil, &model.Error{Op: "create", Path: p, Err: model.ErrNotDir}
		}
		return n, nil, nil
	}
	parent, events, err := w.folderFor(ctx, f, s, p.Dir(), o)
	if err != nil || parent == nil {
		return nil, events, err
	}
	w.treeMu.RLock()
	taken := parent.inSource(p.Base()) != nil
	w.treeMu.RUnlock()
	if !taken {
		return nil, events, nil
	}
	made, err := w.mkdir(ctx, f, s, p, o)
	events = append(events, made...)
	if err != nil {
		return nil, events, err
	}
	n, err := w.find("create", p)
	return n, events, err
}

// sourcePath is where the source is to have p, some of whose folders are missing.
// treeMu is held.
func (w *Workspace) sourcePath(p model.Path) string {
	if n := w.lookup(p); n != nil {
		return n.rel()
	}
	return path.Join(w.sourcePath(p.Dir()), p.Base())
}

// bringBack withdraws the proposal to delete n and shows it again. treeMu is held.
func (w *Workspace) bringBack(f *folder, n *node, origin any) (model.Event, error) {
	if err := f.store.Propose(model.ProposalChange{Drop: []string{n.pending.rec.ID}}); err != nil {
		return model.Event{}, err
	}
	f.withdraw(n.pending)
	n.show(n.home.parent, n.home.name)
	ev := n.event(model.EventCreated)
	ev.Origin = origin
	return ev, nil
}

// showAt shows n, which the source has just got, at its spot; if that is not
// where the source has it, the difference is a proposal to rename it. names is held.
func (w *Workspace) showAt(f *folder, n *node, at spot, by model.Author) error {
	if at.dir == nil || path.Base(at.rel) == at.name {
		return nil
	}
	p := &proposal{node: n, rec: model.ProposalRecord{
		ID: newProposalID(), Kind: model.ProposedRename, Rel: at.rel, Dir: n.kind == model.KindDir, ToDir: at.dir.rel(), Name: at.name,
		Author: by.Name, Session: by.Session, Time: time.Now().UTC(),
	}}
	if err := f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{p.rec}}); err != nil {
		return err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	p.kept = p.rec
	f.proposals = append(f.proposals, p)
	n.pending = p
	n.show(at.dir, at.name)
	return nil
}

func withOrigin(events []model.Event, origin any) []model.Event {
	for i := range events {
		events[i].Origin = origin
	}
	return events
}

// newProposalID names a proposal as suggestions are named.
func newProposalID() string { return string(note.NewDocID()[:10]) }

// target is where something that exists is to be shown.
type target struct {
	dir   *node
	name  string
	there *node // what is shown there now, nil if nothing
}

// targetAt finds the place newPath for n, which is there already or replaces what
// is there if that is asked for. treeMu is held.
func (w *Workspace) targetAt(n *node, newPath model.Path, replace bool) (target, error) {
	dir := w.lookup(newPath.Dir())
	fail := func(err error) (target, error) { return target{}, &model.Error{Op: "rename", Path: newPath, Err: err} }
	switch {
	case dir == nil:
		return fail(fs.ErrNotExist)
	case dir.kind != model.KindDir:
		return fail(model.ErrNotDir)
	case dir.folder != n.folder:
		return target{}, &model.Error{Op: "rename", Path: n.path(), Err: errors.ErrUnsupported}
	case dir.isIn(n):
		return fail(model.ErrBadName)
	}
	to := target{dir, newPath.Base(), dir.children[newPath.Base()]}
	if c := dir.child(newPath.Base()); c == n {
		to.there = nil // its own name, spelt in another way
	} else if c != nil {
		to.there = c
	}
	switch {
	case to.there == nil:
		return to, nil
	case !replace, n.kind == model.KindDir:
		return fail(fs.ErrExist)
	case to.there.kind == model.KindDir:
		return fail(model.ErrIsDir)
	}
	return to, nil
}
