package bridge

import (
	"context"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
)

// Chmod sets the permission bits of what p names, in its source. A person cannot decide
// on that as on a suggestion: in suggest mode it is refused, but for a note that is fresh
// (see Fresh). What changes nothing succeeds. Errors: fs.ErrNotExist, ErrReadOnly,
// ErrOffline, ErrFixedMode, fs.ErrPermission.
func (w *Workspace) Chmod(ctx context.Context, p model.Path, mode fs.FileMode, theirs func(model.Author) bool) error {
	n, err := w.find("chmod", p)
	if err != nil {
		return err
	}
	if w.infoOf(n).Mode == mode.Perm() {
		return nil
	}
	f, _, err := w.structureAt("chmod", p)
	if err != nil {
		return err
	}
	source, ok := f.source.(model.Permissions)
	if ok && w.o.Mode != Direct {
		_, ok = w.FreshNote(ctx, p, theirs)
	}
	if !ok {
		return &model.Error{Op: "chmod", Path: p, Err: model.ErrFixedMode}
	}
	if err := w.act.Begin(); err != nil {
		return model.WrapError("chmod", p, err)
	}
	defer w.act.Done()
	if n.note != nil {
		err = n.note.Chmod(ctx, source, mode.Perm())
	} else {
		_, err = source.Chmod(ctx, n.Place().Rel, mode.Perm())
	}
	if err != nil {
		return model.WrapError("chmod", p, err)
	}
	w.treeMu.Lock()
	n.mode = mode.Perm()
	w.treeMu.Unlock()
	return nil
}
