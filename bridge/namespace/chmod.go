package namespace

import (
	"context"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Chmod sets the permission bits of the node at p in its source. A user cannot review that change like a suggestion, so
// in suggest mode Chmod refuses it, except for an untouched note (see UntouchedNote). A call that changes nothing
// succeeds. Errors: fs.ErrNotExist, ErrReadOnly, ErrOffline, ErrModeNotSupported, fs.ErrPermission.
func (n *Namespace) Chmod(ctx context.Context, p model.Path, mode fs.FileMode, isOwnAuthor func(model.Author) bool) error {
	x, info, err := n.tree.Info("chmod", p)
	if err != nil {
		return err
	}
	if info.Mode == mode.Perm() {
		return nil
	}
	f, err := n.structureAt("chmod", p)
	if err != nil {
		return err
	}
	source, ok := f.Source.(model.Permissions)
	if ok && n.config.Mode != note.Direct {
		_, ok = n.FindUntouched(ctx, p, isOwnAuthor)
	}
	if !ok {
		return &model.Error{Op: "chmod", Path: p, Err: model.ErrModeNotSupported}
	}
	if err := n.config.Events.BeginOp(); err != nil {
		return model.WrapError("chmod", p, err)
	}
	defer n.config.Events.EndOp()
	if x.Note() != nil {
		err = x.Note().Chmod(ctx, source, mode.Perm())
	} else {
		_, err = source.Chmod(ctx, x.Location().Rel, mode.Perm())
	}
	if err != nil {
		return model.WrapError("chmod", p, err)
	}
	f.SetMode(x, mode.Perm())
	return nil
}
