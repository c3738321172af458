package vault

import (
	"context"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
)

// Replace makes r.Data the content of rel if the content is still the one that
// r.Expect names; otherwise it changes nothing and returns model.ErrConflict. The
// mode is kept, and the owner where that is permitted. The content is on the disk
// before it has the name, and the name a moment after Replace has returned (Sync).
// After any other error the file is as it was.
func (v *Vault) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if err := v.writable("write", rel); err != nil {
		return model.Stamp{}, err
	}
	if err := ctx.Err(); err != nil {
		return model.Stamp{}, wrap("write", rel, err)
	}
	s, err := v.stage(rel, r)
	if err != nil {
		return model.Stamp{}, err
	}
	defer s.Close()
	defer v.begin(rel)()
	stamp, err := s.commit()
	if err != nil {
		return model.Stamp{}, wrap("write", rel, err)
	}
	e := entryOf(rel, &s.at.stat)
	e.Stamp = stamp
	v.wrote(e)
	return stamp, nil
}

// Sync makes the names durable in the folder that rel is in, and in rel, if that
// is a folder. It also returns what went wrong with that since it was last asked.
func (v *Vault) Sync(_ context.Context, rel string) error {
	dirs := []string{rel}
	if rel != "" {
		p, err := v.locate(rel)
		if err != nil {
			return wrap("sync", rel, err)
		}
		p.Close()
		dirs = []string{parent(rel)}
		if isKind(&p.stat, fs.ModeDir) {
			dirs = append(dirs, rel)
		}
	}
	var failed error
	for _, d := range dirs {
		dir, err := v.openFolder(d)
		if err == nil {
			err = v.syncedDir(dir)
			dir.Close()
		}
		if failed == nil {
			failed = err
		}
	}
	return wrap("sync", rel, failed)
}

// exchange is Replace without noting whose work it is.
func (v *Vault) exchange(rel string, r model.Replacement) error {
	s, err := v.stage(rel, r)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.commit()
	return err
}

var (
	_ model.Synced   = (*Vault)(nil)
	_ model.Unplacer = (*Vault)(nil)
)
