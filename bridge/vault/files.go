package vault

import (
	"context"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// OpenFile opens a file with the flags of os.OpenFile, except os.O_APPEND, because a model.File is written at offsets.
// Run reports the writes.
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
	p, err := v.folder.Locate(rel)
	if err != nil {
		if flag&os.O_CREATE == 0 || vaultdir.Reserved(rel) {
			return nil, err
		}
		dir, err := v.folder.OpenDir(model.Parent(rel))
		if err != nil {
			return nil, err
		}
		p = vaultdir.Entry{Dir: dir, Name: path.Base(rel), Rel: rel}
	}
	defer p.Close()
	f, err := p.Dir.Open(p.Name, flag, perm)
	if err != nil {
		return nil, err
	}
	st, err := f.Info()
	if err == nil && !st.Mode.IsRegular() {
		err = model.ErrIsDir
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// PutFile replaces the file at rel atomically. Open handles keep the old file.
func (v *Vault) PutFile(rel string, data []byte, perm fs.FileMode) (model.Stamp, error) {
	file := model.NewFile{Within: model.Parent(rel), Data: data, Mode: perm, ModTime: time.Now()}
	e, err := v.write("write", rel, len(data), func() (model.SourceEntry, error) { return v.create(rel, file, true) })
	return e.Stamp, err
}

// file is a disk.File with the errors of wrap, except for reads.
type file struct {
	f   disk.File
	rel string
}

func (f *file) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(p, off)
	return n, wrap("write", f.rel, err)
}

func (f *file) Truncate(size int64) error { return wrap("truncate", f.rel, f.f.Truncate(size)) }

func (f *file) Sync() error { return wrap("sync", f.rel, f.f.Sync()) }

func (f *file) Stat() (fs.FileInfo, error) {
	info, err := f.f.Info()
	if err != nil {
		return nil, err
	}
	return info.FileInfo(path.Base(f.rel)), nil
}

func (f *file) Close() error { return wrap("close", f.rel, f.f.Close()) }

// Chmod sets the permission bits of a file or a folder, and returns its stamp afterwards.
func (v *Vault) Chmod(_ context.Context, rel string, mode fs.FileMode) (stamp model.Stamp, err error) {
	err = v.change("chmod", func() error {
		e, err := v.chmod(rel, mode)
		if err == nil {
			v.tree.record(e)
			stamp = e.Stamp
		}
		return err
	}, rel)
	return stamp, err
}

func (v *Vault) chmod(rel string, mode fs.FileMode) (e model.SourceEntry, err error) {
	p, err := v.folder.Locate(rel)
	if err != nil {
		return e, err
	}
	defer p.Close()
	f, err := p.Dir.Open(p.Name, os.O_RDONLY, 0)
	if err != nil {
		return e, err
	}
	defer f.Close()
	if err := f.Chmod(mode.Perm()); err != nil {
		return e, err
	}
	st, err := f.Info()
	return vaultdir.EntryOf(rel, &st), err
}

// PathOf implements model.Namer.
func (v *Vault) PathOf(file model.Stamp) (rel string, ok bool) { return v.tree.pathOf(file) }
