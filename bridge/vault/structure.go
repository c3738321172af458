package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Create makes a new file with data in it, which nobody sees half-written.
// fs.ErrExist if the name is taken. Missing folders are made.
func (v *Vault) Create(_ context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	if err := v.writable("create", rel); err != nil {
		return model.Stamp{}, err
	}
	defer v.begin(rel)()
	stamp, err := v.create(rel, file)
	if err != nil {
		return model.Stamp{}, wrap("create", rel, err)
	}
	v.wrote(model.SourceEntry{Rel: rel, Mode: file.Mode.Perm(), Stamp: stamp})
	return stamp, nil
}

func (v *Vault) create(rel string, file model.NewFile) (model.Stamp, error) {
	dir, err := v.makeFolders(parent(rel))
	if err != nil {
		return model.Stamp{}, err
	}
	defer dir.Close()
	if _, err := dir.Stat(path.Base(rel)); err == nil {
		return model.Stamp{}, fs.ErrExist // before anything is written
	}
	c := content{data: file.Data, mode: file.Mode.Perm(), modTime: file.ModTime}
	t, err := newFile(dir, v.taggedName(tagOf(rel, c)), c)
	if err != nil {
		return model.Stamp{}, err
	}
	defer t.discard()
	if err := file.Prepare(t.stamp); err != nil {
		return model.Stamp{}, err
	}
	if err := renameNew(dir, t.name, dir, path.Base(rel)); err != nil {
		return model.Stamp{}, err
	}
	if err := v.syncDir(dir); err != nil {
		t.retract(path.Base(rel))
		return model.Stamp{}, err
	}
	return t.placed(), nil
}

// Retract takes the new file at rel away for good, if it still is the one that stamp
// names and nobody has it open for writing; otherwise it changes nothing and returns
// model.ErrConflict.
func (v *Vault) Retract(_ context.Context, rel string, stamp model.Stamp) error {
	if err := v.writable("retract", rel); err != nil {
		return err
	}
	defer v.begin(rel)()
	return wrap("retract", rel, v.retract(rel, stamp))
}

func (v *Vault) retract(rel string, stamp model.Stamp) error {
	p, err := v.lookAt(rel)
	if err != nil {
		return err
	}
	defer p.Close()
	if stampOf(&p.stat) != stamp {
		return model.ErrConflict
	}
	file, err := p.dir.Open(p.name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	release, err := file.Lease()
	if errors.Is(err, disk.ErrWriters) {
		return model.ErrConflict
	}
	if err == nil {
		defer release()
	}
	// As in a swap: what is taken away is looked at when nobody can replace it any more.
	temp := v.tempName()
	if err := renameNew(p.dir, p.name, p.dir, temp); err != nil {
		return err
	}
	st, err := p.dir.Stat(temp)
	if err == nil && !stampOf(&st).SameFile(stamp) {
		err = model.ErrConflict
	}
	if err != nil {
		if _, back := moveAside(p.dir, temp, p.dir, p.name); back != nil {
			err = errors.Join(err, back)
		}
		return err
	}
	if err := p.dir.Remove(temp); err != nil {
		v.log.Warn("temp file stays", model.LogPath, rel, model.LogErr, err) // the next start sweeps it
	}
	v.trySyncDir(p.dir)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known.remove(rel)
	return nil
}

var _ model.Retractor = (*Vault)(nil)

// makeFolders opens the folder rel, making what is missing on the way.
func (v *Vault) makeFolders(rel string) (disk.Dir, error) {
	dir, err := v.openFolder(rel)
	if rel == "" || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	up, err := v.makeFolders(parent(rel))
	if err != nil {
		return nil, err
	}
	defer up.Close()
	if err := v.makeFolder(up, rel); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return up.OpenDir(path.Base(rel))
}

// makeFolder makes the folder rel, whose parent is open.
func (v *Vault) makeFolder(up disk.Dir, rel string) error {
	defer v.begin(rel)()
	name := path.Base(rel)
	if hiddenDir(name) {
		return model.ErrBadName
	}
	if err := up.Mkdir(name); err != nil {
		return err
	}
	v.trySyncDir(up)
	st, err := up.Stat(name)
	if err == nil {
		v.wrote(entryOf(rel, &st))
	}
	return err
}

// Mkdir makes one folder.
func (v *Vault) Mkdir(_ context.Context, rel string) error {
	if err := v.writable("mkdir", rel); err != nil {
		return err
	}
	up, err := v.openFolder(parent(rel))
	if err != nil {
		return wrap("mkdir", rel, err)
	}
	defer up.Close()
	return wrap("mkdir", rel, v.makeFolder(up, rel))
}

// MakeLink makes a symlink that says target.
func (v *Vault) MakeLink(_ context.Context, rel, target string) (model.SourceEntry, error) {
	if err := v.writable("symlink", rel); err != nil {
		return model.SourceEntry{}, err
	}
	defer v.begin(rel)()
	e, err := v.makeLink(rel, target)
	if err != nil {
		return e, wrap("symlink", rel, err)
	}
	v.wrote(e)
	return e, nil
}

func (v *Vault) makeLink(rel, target string) (model.SourceEntry, error) {
	dir, err := v.openFolder(parent(rel))
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer dir.Close()
	if err := dir.Symlink(target, path.Base(rel)); err != nil {
		return model.SourceEntry{}, err
	}
	if err := v.syncDir(dir); err != nil {
		return model.SourceEntry{}, err
	}
	return v.look(rel)
}

var _ model.Linker = (*Vault)(nil)

// Rename moves a file or a folder. Without replace, an existing target is
// fs.ErrExist; with it, a file may replace a file.
func (v *Vault) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	if err := v.writable("rename", oldRel, newRel); err != nil {
		return err
	}
	defer v.begin(oldRel, newRel)()
	return wrap("rename", oldRel, v.rename(oldRel, newRel, replace))
}

func (v *Vault) rename(oldRel, newRel string, replace bool) error {
	from, err := v.lookAt(oldRel)
	if err != nil {
		return err
	}
	defer from.Close()
	isDir := isKind(&from.stat, fs.ModeDir)
	if isDir && (hiddenDir(from.name) || hiddenDir(path.Base(newRel))) {
		return model.ErrBadName
	}
	if isKind(&from.stat, fs.ModeSymlink) {
		if _, shown := readLink(from.dir, from.name, newRel); !shown {
			return model.ErrBadName // from there it leads out of the vault
		}
	}
	to, err := v.openFolder(parent(newRel))
	if err != nil {
		return err
	}
	defer to.Close()
	if replace && !isDir {
		err = from.dir.Rename(from.name, to, path.Base(newRel))
	} else {
		err = renameNew(from.dir, from.name, to, path.Base(newRel))
	}
	if err != nil {
		return err
	}
	v.trySyncDir(to)
	v.trySyncDir(from.dir)
	return v.moved(oldRel, newRel)
}

// moved brings what is known in line with a rename made here.
func (v *Vault) moved(oldRel, newRel string) error {
	e, err := v.look(newRel)
	v.mu.Lock()
	defer v.mu.Unlock()
	if oldRel != newRel {
		v.known.remove(newRel)
		v.known.move(oldRel, newRel)
	}
	if err == nil {
		v.known.put(e)
	}
	return err
}

// look describes the file, folder or symlink at rel as it is now.
func (v *Vault) look(rel string) (model.SourceEntry, error) {
	if reserved(rel) {
		return model.SourceEntry{}, fs.ErrNotExist
	}
	p, err := v.lookAt(rel)
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer p.Close()
	e, shown := entryIn(p.dir, rel, p.name, &p.stat)
	if !shown {
		return model.SourceEntry{}, fs.ErrNotExist
	}
	return e, nil
}

// Look describes what is at rel now.
func (v *Vault) Look(rel string) (model.SourceEntry, error) {
	e, err := v.look(rel)
	return e, wrap("look", rel, err)
}

var _ model.Looker = (*Vault)(nil)

// Remove moves a file to the vault's .trash, as Obsidian does, and deletes an
// empty folder; a folder that holds anything, hidden or not, is
// model.ErrNotEmpty.
func (v *Vault) Remove(_ context.Context, rel string) error {
	if err := v.writable("remove", rel); err != nil {
		return err
	}
	defer v.begin(rel)()
	return wrap("remove", rel, v.remove(rel))
}

func (v *Vault) remove(rel string) error {
	p, err := v.lookAt(rel)
	if err != nil {
		return err
	}
	defer p.Close()
	if isKind(&p.stat, fs.ModeDir) {
		if hiddenDir(p.name) {
			return fs.ErrNotExist
		}
		err = v.removeFolder(&p)
	} else {
		err = v.toTrash(&p)
	}
	if err != nil {
		return err
	}
	v.trySyncDir(p.dir)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known.remove(rel)
	return nil
}

// removeFolder removes an empty folder. What a save there has displaced is in it for
// a moment after the save has returned (swap.settle), and is waited for.
func (v *Vault) removeFolder(p *place) error {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		err := p.dir.Rmdir(p.name)
		if !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		holds, listed := v.namesIn(p)
		if listed == nil && len(holds) > 0 {
			return &model.NotEmptyError{Holds: holds}
		}
		if listed != nil || time.Since(start) > settleLimit {
			return err
		}
	}
}

// Hidden names what is at rel, or in the folder rel, and is not served.
func (v *Vault) Hidden(_ context.Context, rel string) ([]string, error) {
	hidden, err := v.hidden(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return hidden, wrap("list", rel, err)
}

func (v *Vault) hidden(rel string) ([]string, error) {
	p, err := v.lookAt(rel)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if _, ok := v.describe(p.dir, parent(rel), p.name); !ok {
		return []string{p.name}, nil
	}
	if !isKind(&p.stat, fs.ModeDir) {
		return nil, nil
	}
	names, err := v.namesIn(&p)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	dir, err := p.dir.OpenDir(p.name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return slices.DeleteFunc(names, func(name string) bool {
		_, ok := v.describe(dir, rel, name)
		return ok
	}), nil
}

// namesIn lists what a folder holds but for temp files of this process.
func (v *Vault) namesIn(p *place) ([]string, error) {
	dir, err := p.dir.OpenDir(p.name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Names(-1)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, v.tempPrefix) })
	slices.Sort(names)
	return names, err
}
