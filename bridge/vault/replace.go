package vault

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
)

// Replace replaces the content of rel if the file still has the stamp r.IfMatch. Otherwise it changes nothing and
// returns model.ErrConflict. It keeps the mode and, where permitted, the owner. The change is durable a moment later
// (Sync). After an error the file is usually unchanged. If the error names another file, that file has a save that
// another program made at the same moment.
func (v *Vault) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if err := v.writable("write", rel); err != nil {
		return model.Stamp{}, err
	}
	if err := ctx.Err(); err != nil {
		return model.Stamp{}, wrap("write", rel, err)
	}
	s, err := v.swaps.Stage(rel, r)
	if err != nil {
		v.disk.record(len(r.Data), err)
		return model.Stamp{}, wrap("write", rel, err)
	}
	defer s.Close()
	if err := r.Prepare(s.Stamp()); err != nil {
		return model.Stamp{}, err
	}
	defer v.tree.begin(rel)()
	stamp, err := s.Commit()
	v.disk.record(len(r.Data), err)
	if err != nil {
		r.Abort()
		return model.Stamp{}, wrap("write", rel, err)
	}
	v.tree.recordWritten(model.SourceEntry{Rel: rel, Mode: s.Mode(), Stamp: stamp})
	return stamp, nil
}

// Sync makes the file at rel and the names in its folder durable. For a folder it makes the names in the folder and in
// its parent durable. It also returns earlier failures of these syncs.
func (v *Vault) Sync(_ context.Context, rel string) error {
	dirs := []string{rel}
	if rel != "" {
		p, err := v.folder.Locate(rel)
		if err != nil {
			return wrap("sync", rel, err)
		}
		defer p.Close()
		dirs = []string{model.Parent(rel)}
		if p.Info.Mode.IsDir() {
			dirs = append(dirs, rel)
		} else if err := p.SyncFile(); err != nil {
			return wrap("sync", rel, err)
		}
	}
	var failed error
	for _, d := range dirs {
		dir, err := v.folder.OpenDir(d)
		if err == nil {
			err = v.syncs.SyncAll(dir)
			dir.Close()
		}
		if failed == nil {
			failed = err
		}
	}
	return wrap("sync", rel, failed)
}

var (
	_ model.Durable       = (*Vault)(nil)
	_ model.RenameChecker = (*Vault)(nil)
)
