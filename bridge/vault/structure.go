package vault

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/filereplace"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Create creates a file atomically, together with missing folders. It returns fs.ErrExist if the name is taken.
func (v *Vault) Create(_ context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	e, err := v.write("create", rel, len(file.Data), func() (model.SourceEntry, error) { return v.create(rel, file, false) })
	return e.Stamp, err
}

// create implements Create. If replace is set, the file may replace another one.
func (v *Vault) create(rel string, file model.NewFile, replace bool) (e model.SourceEntry, err error) {
	dir, err := v.makeFolders(file.Within, model.Parent(rel))
	if err != nil {
		return e, err
	}
	defer dir.Close()
	if _, err := dir.Stat(path.Base(rel)); err == nil && !replace {
		return e, fs.ErrExist // fail before anything is written
	}
	c := filereplace.Content{Data: file.Data, Mode: file.Mode.Perm(), ModTime: file.ModTime}
	t, err := v.swaps.NewFile(dir, v.swaps.TaggedName(rel, c), c)
	if err != nil {
		return e, err
	}
	defer t.Discard()
	if err := file.Prepare(t.Stamp); err != nil {
		return e, err
	}
	rename := filereplace.RenameNew
	if replace {
		rename = disk.Dir.Rename
	}
	if err := rename(dir, t.Name, dir, path.Base(rel)); err != nil {
		return e, err
	}
	if replace {
		v.syncs.SyncBestEffort(dir)
	} else if err := v.syncOr(dir, func() error { t.Retract(path.Base(rel)); return nil }); err != nil {
		return e, err
	}
	return model.SourceEntry{Rel: rel, Mode: c.Mode, Stamp: t.Placed()}, nil
}

// syncOr makes a change of names in dir durable. If that fails, it calls undo and returns the error.
func (v *Vault) syncOr(dir disk.Dir, undo func() error) error {
	err := v.syncs.Sync(dir)
	if err != nil {
		err = errors.Join(err, undo())
		v.syncs.SyncBestEffort(dir) // otherwise a power cut could revert the undo
	}
	return err
}

// Retract deletes the new file at rel if the file still has this stamp and no program is known to have it open for
// writing. Otherwise it keeps the file and returns model.ErrConflict.
func (v *Vault) Retract(_ context.Context, rel string, stamp model.Stamp) error {
	return v.change("retract", func() error { return v.retract(rel, stamp) }, rel)
}

func (v *Vault) retract(rel string, stamp model.Stamp) error {
	p, err := v.folder.Resolve(rel)
	if err != nil {
		return err
	}
	defer p.Close()
	if vaultdir.StampOf(&p.Info) != stamp {
		return model.ErrConflict
	}
	file, err := p.Dir.Open(p.Name, os.O_RDONLY, 0)
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
	// As in a swap, the file is verified after it was moved, because then no program can replace it any more.
	temp := v.swaps.TempName()
	if err := filereplace.RenameNew(p.Dir, p.Name, p.Dir, temp); err != nil {
		return err
	}
	st, err := p.Dir.Stat(temp)
	if err == nil && !vaultdir.StampOf(&st).SameFile(stamp) {
		err = model.ErrConflict
	}
	if err != nil {
		if _, back := filereplace.MoveAside(p.Dir, temp, p.Dir, p.Name); back != nil {
			err = errors.Join(err, back)
		}
		return err
	}
	if err := p.Dir.Remove(temp); err != nil {
		v.log.Warn("temp file cannot be removed", model.LogPath, rel, model.LogErr, err) // the next start will remove it
	}
	v.syncs.SyncBestEffort(p.Dir)
	v.tree.forget(rel)
	return nil
}

var _ model.Retractor = (*Vault)(nil)

// makeFolders opens the folder rel, and creates missing folders below within on the way.
func (v *Vault) makeFolders(within, rel string) (disk.Dir, error) {
	dir, err := v.folder.OpenDir(rel)
	if rel == within || rel == "" || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	up, err := v.makeFolders(within, model.Parent(rel))
	if err != nil {
		return nil, err
	}
	defer up.Close()
	if err := v.makeFolder(up, rel); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return up.OpenDir(path.Base(rel))
}

func (v *Vault) makeFolder(up disk.Dir, rel string) error {
	defer v.tree.begin(rel)()
	name := path.Base(rel)
	if vaultdir.HiddenDir(name) {
		return model.ErrBadName
	}
	if err := up.Mkdir(name); err != nil {
		return err
	}
	if err := v.syncOr(up, func() error { return up.Rmdir(name) }); err != nil {
		return err
	}
	st, err := up.Stat(name)
	if err == nil {
		v.tree.recordWritten(vaultdir.EntryOf(rel, &st))
	}
	return err
}

func (v *Vault) Mkdir(_ context.Context, rel string) error {
	return v.change("mkdir", func() error {
		up, err := v.folder.OpenDir(model.Parent(rel))
		if err != nil {
			return err
		}
		defer up.Close()
		return v.makeFolder(up, rel)
	}, rel)
}

func (v *Vault) MakeLink(_ context.Context, rel, target string) (model.SourceEntry, error) {
	return v.write("symlink", rel, 0, func() (model.SourceEntry, error) { return v.makeLink(rel, target) })
}

func (v *Vault) makeLink(rel, target string) (model.SourceEntry, error) {
	dir, err := v.folder.OpenDir(model.Parent(rel))
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer dir.Close()
	if err := dir.Symlink(target, path.Base(rel)); err != nil {
		return model.SourceEntry{}, err
	}
	if err := v.syncOr(dir, func() error { return dir.Remove(path.Base(rel)) }); err != nil {
		return model.SourceEntry{}, err
	}
	return v.folder.Stat(rel)
}

var _ model.Linker = (*Vault)(nil)

// Rename moves a file or a folder. If the target exists, it returns fs.ErrExist; but with replace, a file may replace a
// file.
func (v *Vault) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	return v.change("rename", func() error { return v.rename(oldRel, newRel, replace) }, oldRel, newRel)
}

func (v *Vault) rename(oldRel, newRel string, replace bool) error {
	from, err := v.folder.Resolve(oldRel)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := v.swaps.AwaitDurable(oldRel); err != nil {
		return err
	}
	isDir := from.Info.Mode.IsDir()
	if isDir && (vaultdir.HiddenDir(from.Name) || vaultdir.HiddenDir(path.Base(newRel))) {
		return model.ErrBadName
	}
	if from.Info.Mode.Type() == fs.ModeSymlink {
		if _, shown := vaultdir.ReadLink(from.Dir, from.Name, newRel); !shown {
			return model.ErrBadName // at the new place the link would lead out of the vault
		}
	}
	to, err := v.folder.OpenDir(model.Parent(newRel))
	if err != nil {
		return err
	}
	defer to.Close()
	if replace && !isDir {
		err = from.Dir.Rename(from.Name, to, path.Base(newRel))
	} else {
		err = filereplace.RenameNew(from.Dir, from.Name, to, path.Base(newRel))
	}
	if err != nil {
		return err
	}
	back := func() error {
		if replace { // the target is already overwritten
			return nil
		}
		return filereplace.RenameNew(to, path.Base(newRel), from.Dir, from.Name)
	}
	if err = v.syncOr(to, back); err == nil && model.Parent(oldRel) != model.Parent(newRel) {
		err = v.syncOr(from.Dir, back)
	}
	if err != nil && !replace {
		return err
	}
	if oldRel != newRel {
		v.tree.forget(newRel)
		v.tree.move(oldRel, newRel)
	}
	if e, err := v.folder.Stat(newRel); err == nil { // otherwise Run reports that a user has moved or removed it
		v.tree.record(e)
	}
	return nil
}

func (v *Vault) Stat(rel string) (model.SourceEntry, error) {
	e, err := v.folder.Stat(rel)
	return e, wrap("look", rel, err)
}

var _ model.Stater = (*Vault)(nil)

// Remove moves a file to the vault's .trash, as Obsidian does, and deletes an empty folder. It returns
// model.ErrNotEmpty for a folder with any contents, hidden or not.
func (v *Vault) Remove(_ context.Context, rel string) error {
	return v.change("remove", func() error { return v.remove(rel) }, rel)
}

func (v *Vault) remove(rel string) error {
	p, err := v.folder.Resolve(rel)
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Info.Mode.IsDir() {
		if vaultdir.HiddenDir(p.Name) {
			return fs.ErrNotExist
		}
		if err = v.removeFolder(&p); err == nil {
			v.syncs.SyncBestEffort(p.Dir)
		}
	} else if err = v.swaps.AwaitDurable(rel); err == nil {
		err = v.toTrash(&p)
	}
	if err != nil {
		return err
	}
	v.tree.forget(rel)
	return nil
}

func (v *Vault) toTrash(p *vaultdir.Entry) error {
	trash, err := v.folder.OpenTrash()
	if err != nil {
		return err
	}
	defer trash.Close()
	name, err := filereplace.MoveAside(p.Dir, p.Name, trash, p.Name)
	if err != nil {
		return err
	}
	if err = v.syncOr(p.Dir, func() error { return filereplace.RenameNew(trash, name, p.Dir, p.Name) }); err == nil {
		v.syncs.SyncBestEffort(trash)
	}
	return err
}

func (v *Vault) Restore(_ context.Context, rel string, _ model.DocID, stamp model.Stamp, data []byte) (model.SourceEntry, error) {
	return v.write("restore", rel, 0, func() (model.SourceEntry, error) { return v.restore(rel, stamp, data) })
}

func (v *Vault) restore(rel string, stamp model.Stamp, data []byte) (model.SourceEntry, error) {
	dir, err := v.folder.OpenDir(model.Parent(rel))
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer dir.Close()
	trash, err := v.folder.OpenDir(vaultdir.Trash)
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer trash.Close()
	for name := range model.NumberedNames(path.Base(rel)) {
		info, err := trash.Stat(name)
		if err != nil {
			return model.SourceEntry{}, err
		}
		if !vaultdir.StampOf(&info).SameFile(stamp) {
			continue
		}
		if have, _, _, err := disk.ReadFile(trash, name); err != nil || !bytes.Equal(have, data) {
			continue
		}
		if err := filereplace.RenameNew(trash, name, dir, path.Base(rel)); err != nil {
			return model.SourceEntry{}, err
		}
		if err := v.syncOr(dir, func() error { return filereplace.RenameNew(dir, path.Base(rel), trash, name) }); err != nil {
			return model.SourceEntry{}, err
		}
		v.syncs.SyncBestEffort(trash)
		return v.folder.Stat(rel)
	}
	return model.SourceEntry{}, fs.ErrNotExist
}

var _ model.Restorer = (*Vault)(nil)

// removeFolder removes an empty folder. For a moment after a save has returned, its pre-image may still be in the
// folder; removeFolder waits until it is gone.
func (v *Vault) removeFolder(p *vaultdir.Entry) error {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		err := p.Dir.Rmdir(p.Name)
		if !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		holds, listed := v.namesIn(p)
		if listed == nil && len(holds) > 0 {
			return &model.NotEmptyError{Holds: holds}
		}
		if listed != nil || time.Since(start) > vaultdir.MaxQuietWait {
			return err
		}
	}
}

func (v *Vault) Hidden(_ context.Context, rel string) ([]string, error) {
	hidden, err := v.hidden(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return hidden, wrap("list", rel, err)
}

func (v *Vault) hidden(rel string) ([]string, error) {
	p, err := v.folder.Resolve(rel)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if _, ok := vaultdir.Describe(p.Dir, model.Parent(rel), p.Name); !ok {
		return []string{p.Name}, nil
	}
	if !p.Info.Mode.IsDir() {
		return nil, nil
	}
	names, err := v.namesIn(&p)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	dir, err := p.Dir.OpenDir(p.Name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return slices.DeleteFunc(names, func(name string) bool {
		_, ok := vaultdir.Describe(dir, rel, name)
		return ok
	}), nil
}

// namesIn returns the names in a folder, except for temp files of this process.
func (v *Vault) namesIn(p *vaultdir.Entry) ([]string, error) {
	dir, err := p.Dir.OpenDir(p.Name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Names(-1)
	names = slices.DeleteFunc(names, v.swaps.IsOwn)
	slices.Sort(names)
	return names, err
}
