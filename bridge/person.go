package bridge

import (
	"context"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// What people do through relayfs itself, as clients of a shared Folder: at once,
// and with the paths that they have, whatever is proposed for them.

// inPeoples finds what people have at p.
func (w *Workspace) inPeoples(op string, p model.Path) (*node, error) {
	folder, rel := p.Split()
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	if top := w.root.children[folder]; top != nil {
		if n := top.folder.lookupSource(rel); n != nil {
			return n, nil
		}
	}
	return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
}

// peoplesNote finds the note that people have at p.
func (w *Workspace) peoplesNote(op string, p model.Path) (*note.Note, error) {
	n, err := w.inPeoples(op, p)
	if err != nil {
		return nil, err
	}
	return n.mustBeNote(op, p)
}

// peoplesPath is where people have n. treeMu is held.
func (n *node) peoplesPath() model.Path {
	if n.folder == nil || n == n.folder.node {
		return n.path()
	}
	return n.folder.node.path().Join(n.rel())
}

// PeoplesPath is where people have what is shown at p: somewhere else while it, or a
// folder that it is in, is proposed to be renamed. fs.ErrNotExist.
func (w *Workspace) PeoplesPath(p model.Path) (model.Path, error) {
	n, err := w.find("stat", p)
	if err != nil {
		return "", err
	}
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return n.peoplesPath(), nil
}

func (w *Workspace) personRenames(ctx context.Context, f *folder, s model.Structure, oldPath, newPath model.Path, o Restructure) error {
	f.names.Lock()
	defer f.names.Unlock()
	n, err := w.inPeoples("rename", oldPath)
	if err != nil {
		return err
	}
	if n.kindAs(newPath.Base()) != n.kind {
		return &model.Error{Op: "rename", Path: newPath, Err: model.ErrNotNote}
	}
	if err := n.mayMoveTo(newPath); err != nil {
		return err
	}
	_, oldRel := oldPath.Split()
	_, newRel := newPath.Split()
	unlock := w.lockNotes(n)
	defer unlock()
	if err := s.Rename(ctx, oldRel, newRel, o.Replace); err != nil {
		return err
	}
	w.treeMu.Lock()
	w.moveHome(n, newRel)
	w.treeMu.Unlock()
	w.renameDocs(f, oldRel, newRel)
	f.names.tell(withOrigin(w.settle(f), o.Origin)...)
	return nil
}

func (w *Workspace) personRemoves(ctx context.Context, f *folder, s model.Structure, p model.Path, o Restructure) error {
	f.names.Lock()
	defer f.names.Unlock()
	n, err := w.inPeoples("remove", p)
	if err != nil {
		return err
	}
	unlock := w.lockNotes(n)
	defer unlock()
	if err := s.Remove(ctx, n.rel()); err != nil {
		return err
	}
	w.treeMu.Lock()
	n.usedBy(model.Author{})
	w.vanish(n)
	w.treeMu.Unlock()
	f.names.tell(withOrigin(w.settle(f), o.Origin)...)
	return nil
}
