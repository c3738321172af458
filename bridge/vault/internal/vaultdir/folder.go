package vaultdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Folder is the directory of a vault. Its methods are safe for concurrent use.
type Folder struct {
	Disk disk.Disk
	Path string // absolute path

	mu      sync.Mutex // guards the fields below
	root    ID         // directory that the last Find found
	born    int64      // its time of birth; 0 if unknown
	offline bool       // the directory is missing, or is not the vault (see Find)
}

func Open(on disk.Disk, path string) (*Folder, error) {
	root, err := on.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Info()
	return &Folder{Disk: on, Path: path, root: IDOf(&info), born: info.Birth}, err
}

func (f *Folder) OpenRoot() (disk.Dir, error) {
	root, info, err := f.openAny()
	if err == nil && !f.isRoot(info) {
		root.Close()
		err = model.ErrOffline
	}
	if err != nil {
		return nil, err
	}
	return root, nil
}

func (f *Folder) isRoot(info disk.Info) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return IDOf(&info) == f.root && !f.offline
}

func (f *Folder) openAny() (root disk.Dir, info disk.Info, err error) {
	if root, err = f.Disk.OpenRoot(f.Path); err == nil {
		if info, err = root.Info(); err == nil {
			return root, info, nil
		}
		root.Close()
	}
	return nil, info, fmt.Errorf("%w: %v", model.ErrOffline, err)
}

// Find opens the directory that is at the path now, and makes it the vault's directory. It returns model.ErrOffline if
// there is no directory, or if old reports that the vault had entries but the directory is empty or was made at another
// time: it may be the mountpoint of a removed disk.
func (f *Folder) Find(old func() bool) (disk.Dir, error) {
	root, info, err := f.openAny()
	if err != nil {
		return nil, err
	}
	if err := f.adopt(root, info, old); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func (f *Folder) adopt(root disk.Dir, info disk.Info, old func() bool) error {
	names, err := root.Names(1)
	if err != nil {
		return fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	had := old()
	f.mu.Lock()
	defer f.mu.Unlock()
	other := f.born != 0 && info.Birth != 0 && info.Birth != f.born
	if f.offline = had && (other || len(names) == 0); f.offline {
		return fmt.Errorf("%w: the directory is empty, or another one", model.ErrOffline)
	}
	f.root, f.born = IDOf(&info), info.Birth
	return nil
}

// Present reports whether the directory of Find is still there. If it is not, OpenRoot returns model.ErrOffline until
// the next Find.
func (f *Folder) Present(old func() bool) bool {
	root, info, err := f.openAny()
	if err == nil {
		defer root.Close()
		err = model.ErrOffline
		if f.isRoot(info) {
			err = f.adopt(root, info, old)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offline = err != nil
	return !f.offline
}

func (f *Folder) OpenDir(rel string) (disk.Dir, error) {
	dir, err := f.OpenRoot()
	if err != nil || rel == "" {
		return dir, err
	}
	for elem := range strings.SplitSeq(rel, "/") {
		next, err := dir.OpenDir(elem)
		dir.Close()
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fs.ErrNotExist // nothing is served below a symlink or a file
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

func (f *Folder) OpenTrash() (disk.Dir, error) {
	root, err := f.OpenRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch err := root.Mkdir(Trash); {
	case err == nil:
		if err := root.Sync(); err != nil {
			return nil, errors.Join(err, root.Rmdir(Trash))
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return root.OpenDir(Trash)
}

// Entry is the location of a path: an open folder and a name in it.
type Entry struct {
	Dir  disk.Dir
	Name string
	Rel  string
	Info disk.Info // state at the time of the lookup
}

// Close closes the folder, unless it was taken over and Dir is nil.
func (p *Entry) Close() {
	if p.Dir != nil {
		p.Dir.Close()
	}
}

func (p *Entry) SyncFile() error {
	f, err := p.Dir.Open(p.Name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Locate finds the file or folder at rel. It returns fs.ErrNotExist if the file or folder is hidden, and for a symlink.
// The caller must close the result.
func (f *Folder) Locate(rel string) (Entry, error) {
	if Reserved(rel) {
		return Entry{}, fs.ErrNotExist
	}
	p, err := f.Resolve(rel)
	if err == nil && !served(&p.Info, p.Name) {
		p.Close()
		return Entry{}, fs.ErrNotExist
	}
	return p, err
}

// Resolve returns the location of rel, even if rel is hidden or a symlink.
func (f *Folder) Resolve(rel string) (Entry, error) {
	dir, err := f.OpenDir(model.Parent(rel))
	if err != nil {
		return Entry{}, err
	}
	p := Entry{Dir: dir, Name: path.Base(rel), Rel: rel}
	if p.Info, err = dir.Stat(p.Name); err != nil {
		dir.Close()
		return Entry{}, err
	}
	return p, nil
}

func (f *Folder) Stat(rel string) (model.SourceEntry, error) {
	if Reserved(rel) {
		return model.SourceEntry{}, fs.ErrNotExist
	}
	p, err := f.Resolve(rel)
	if err != nil {
		return model.SourceEntry{}, err
	}
	defer p.Close()
	e, shown := entryIn(p.Dir, rel, p.Name, &p.Info)
	if !shown {
		return model.SourceEntry{}, fs.ErrNotExist
	}
	return e, nil
}
