package bridge

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file tells how far a change has come: a write that has returned outlives the
// process; Sync waits for this machine's disk, Acknowledged for a server.

// Sync returns when everything that was done at p, a note or a folder, outlives a
// power cut, or with the reason why it may not.
func (w *Workspace) Sync(ctx context.Context, p model.Path) error {
	f, rel, err := w.folderOf(p)
	if err != nil || f == nil {
		return model.WrapError("sync", p, err)
	}
	s, ok := f.source.(model.Synced)
	if !ok {
		return nil
	}
	if err := f.store.Sync(); err != nil {
		return model.WrapError("sync", p, err)
	}
	err = s.Sync(ctx, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what is proposed is in the store
	}
	return model.WrapError("sync", p, err)
}

// folderOf is the Folder that p is in, and where p is there; nil for the workspace itself.
func (w *Workspace) folderOf(p model.Path) (*folder, string, error) {
	if p == "" {
		return nil, "", nil
	}
	name, _ := p.Split()
	n, err := w.find("sync", model.Path(name))
	if err != nil || n.folder == nil {
		return nil, "", err
	}
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return n.folder, w.sourcePath(p), nil
}

// Acknowledged waits until the server of the note at p, if its Folder has one, has
// all of it, and says whether it has. What it lacks is kept here, and sent when it
// is connected.
func (w *Workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	f, rel, err := w.folderOf(p)
	if err != nil || f == nil {
		return false
	}
	if s, ok := f.source.(model.Syncer); ok {
		return s.Acknowledged(ctx, rel)
	}
	return true
}
