package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// OpenFile opens a file with the flags of os.OpenFile, byte for byte. os.O_APPEND
// is ignored, because a model.File is written at offsets. What is written shows
// up in Run like anybody's change.
func (v *Vault) OpenFile(rel string, flag int, perm fs.FileMode) (model.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		if err := v.writable("open", rel); err != nil {
			return nil, err
		}
	}
	f, err := v.openFile(rel, flag&^os.O_APPEND, perm)
	if err != nil {
		return nil, wrap("open", rel, err)
	}
	return &file{f, rel}, nil
}

func (v *Vault) openFile(rel string, flag int, perm fs.FileMode) (disk.File, error) {
	p, err := v.locate(rel)
	if err != nil {
		if flag&os.O_CREATE == 0 || reserved(rel) {
			return nil, err
		}
		dir, err := v.openFolder(parent(rel))
		if err != nil {
			return nil, err
		}
		p = place{dir: dir, name: path.Base(rel), rel: rel}
	}
	defer p.Close()
	f, err := p.dir.Open(p.name, flag, perm)
	if err != nil {
		return nil, err
	}
	st, err := f.Info()
	if err == nil && !isKind(&st, 0) {
		err = model.ErrIsDir
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// PutFile puts a new file in the place of the one at rel, which nobody sees
// half-written. Whoever has the old file open keeps that.
func (v *Vault) PutFile(rel string, data []byte, perm fs.FileMode) (model.Stamp, error) {
	if err := v.writable("write", rel); err != nil {
		return model.Stamp{}, err
	}
	defer v.begin(rel)()
	stamp, err := v.putFile(rel, content{data: data, mode: perm.Perm(), modTime: time.Now()})
	if err != nil {
		return model.Stamp{}, wrap("write", rel, err)
	}
	v.wrote(model.SourceEntry{Rel: rel, Mode: perm.Perm(), Stamp: stamp})
	return stamp, nil
}

func (v *Vault) putFile(rel string, c content) (model.Stamp, error) {
	p, err := v.lookAt(rel)
	if err != nil {
		return model.Stamp{}, err
	}
	defer p.Close()
	if isKind(&p.stat, fs.ModeDir) {
		return model.Stamp{}, model.ErrIsDir
	}
	t, err := newFile(p.dir, v.tempName(), c)
	if err != nil {
		return model.Stamp{}, err
	}
	defer t.discard()
	if err := p.dir.Rename(t.name, p.dir, p.name); err != nil {
		return model.Stamp{}, err
	}
	v.trySyncDir(p.dir)
	return t.placed(), nil
}

// file is a disk.File whose errors are in the words of package bridge.
type file struct {
	f   disk.File
	rel string
}

// ReadAt reads at an offset.
func (f *file) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

// WriteAt writes at an offset; model.ErrNoSpace if the disk is full.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(p, off)
	return n, f.translate("write", err)
}

// Truncate sets the size.
func (f *file) Truncate(size int64) error { return f.translate("truncate", f.f.Truncate(size)) }

// Sync makes what was written durable.
func (f *file) Sync() error { return f.translate("sync", f.f.Sync()) }

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.f.Stat() }

// Close closes the file.
func (f *file) Close() error { return f.translate("close", f.f.Close()) }

func (f *file) translate(op string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return wrap(op, f.rel, err)
}

// Chmod sets the permission bits of a file or a folder, and returns its stamp then.
func (v *Vault) Chmod(_ context.Context, rel string, mode fs.FileMode) (model.Stamp, error) {
	if err := v.writable("chmod", rel); err != nil {
		return model.Stamp{}, err
	}
	defer v.begin(rel)()
	e, err := v.chmod(rel, mode)
	if err != nil {
		return model.Stamp{}, wrap("chmod", rel, err)
	}
	v.learn(e)
	return e.Stamp, nil
}

func (v *Vault) chmod(rel string, mode fs.FileMode) (e model.SourceEntry, err error) {
	p, err := v.locate(rel)
	if err != nil {
		return e, err
	}
	defer p.Close()
	f, err := p.dir.Open(p.name, os.O_RDONLY, 0)
	if err != nil {
		return e, err
	}
	defer f.Close()
	if err := f.Chmod(mode.Perm()); err != nil {
		return e, err
	}
	st, err := f.Info()
	return entryOf(rel, &st), err
}
