package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Replace makes r.Data the content of rel if the content is still the one that
// r.Expect names; otherwise it changes nothing and returns model.ErrConflict. The
// mode is kept, and the owner where that is permitted. Content and name are on the disk a
// moment after Replace has returned (Sync).
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

// Sync makes the file at rel durable and the names in the folder that it is in; if it is
// a folder, those in it, too. It also returns what went wrong with that since it was last asked.
func (v *Vault) Sync(_ context.Context, rel string) error {
	dirs := []string{rel}
	if rel != "" {
		p, err := v.locate(rel)
		if err != nil {
			return wrap("sync", rel, err)
		}
		defer p.Close()
		dirs = []string{parent(rel)}
		if isKind(&p.stat, fs.ModeDir) {
			dirs = append(dirs, rel)
		} else if err := syncFile(&p); err != nil {
			return wrap("sync", rel, err)
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

func syncFile(p *place) error {
	f, err := p.dir.Open(p.name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncDir makes the names in dir durable. Disks that cannot do so say EINVAL, which
// is no error here.
func (v *Vault) syncDir(dir disk.Dir) error {
	st, err := dir.Info()
	if err != nil {
		return err
	}
	return v.syncs.do(idOf(&st), func() error {
		if err := dir.Sync(); !errors.Is(err, syscall.EINVAL) {
			return err
		}
		return nil
	})
}

// syncedDir is syncDir for who asks about all that was done in dir. The disk tells
// of a failure once.
func (v *Vault) syncedDir(dir disk.Dir) error {
	err := v.syncDir(dir)
	st, statErr := dir.Info()
	if statErr != nil {
		return statErr
	}
	if before := v.syncs.failure(idOf(&st)); err == nil {
		err = before
	}
	return err
}

// trySyncDir is syncDir after a change that is not taken back, or that nobody waits
// for: whoever asks about the folder next is told if it fails (Sync).
func (v *Vault) trySyncDir(dir disk.Dir) {
	if err := v.syncDir(dir); err != nil {
		v.log.Warn("folder is not synced: a power cut may bring back what it held", model.LogErr, err)
	}
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
