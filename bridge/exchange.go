package bridge

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Exchange lets two notes, or two other files, of one Folder change names: three
// renames over a name that is free, which are taken back if one of them fails. In
// suggest mode it is a proposal to rename each. Errors are those of Rename.
func (w *Workspace) Exchange(ctx context.Context, a, b model.Path, o Restructure) error {
	o.Replace = false
	own, err := w.isOwnAt(a, o.By)
	if err != nil {
		return err
	}
	if own { // it would be moved at once, and people would be shown the free name
		a, b = b, a
	}
	aside, err := w.freeBeside(a)
	if err != nil {
		return err
	}
	steps := [][2]model.Path{{a, aside}, {b, a}, {aside, b}}
	for i, step := range steps {
		if _, err = w.Rename(ctx, step[0], step[1], o); err == nil {
			continue
		}
		for _, done := range slices.Backward(steps[:i]) {
			if _, undo := w.Rename(ctx, done[1], done[0], o); undo != nil {
				return errors.Join(err, undo)
			}
		}
		return err
	}
	return nil
}

func (w *Workspace) isOwnAt(p model.Path, by model.Author) (bool, error) {
	n, err := w.find("rename", p)
	return err == nil && w.isOwn(n, by), err
}

// freeBeside is a path beside what is at p that nothing has, here or in the source.
func (w *Workspace) freeBeside(p model.Path) (model.Path, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.lookup(p)
	if n == nil || n.parent == nil {
		return "", &model.Error{Op: "rename", Path: p, Err: fs.ErrNotExist}
	}
	return p.Dir().Join(n.parent.freeName(p.Base())), nil
}
