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
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Folder is the directory of a vault. Its methods may be called from several goroutines.
type Folder struct {
	Disk disk.Disk
	Path string // absolute

	mu      sync.Mutex // protects the following
	root    ID         // the directory that Find found last
	offline bool       // it is missing, or empty after it was not
}

// Open is the directory path, which must exist.
func Open(on disk.Disk, path string) (*Folder, error) {
	root, err := on.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	id, err := IDOfDir(root)
	return &Folder{Disk: on, Path: path, root: id}, err
}

// OpenRoot opens the directory; model.ErrOffline if it is not the one that Find found.
func (f *Folder) OpenRoot() (disk.Dir, error) {
	root, id, err := f.openAny()
	if err == nil && !f.isRoot(id) {
		root.Close()
		err = model.ErrOffline
	}
	if err != nil {
		return nil, err
	}
	return root, nil
}

func (f *Folder) isRoot(id ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return id == f.root && !f.offline
}

// openAny opens whatever directory is there.
func (f *Folder) openAny() (disk.Dir, ID, error) {
	root, err := f.Disk.OpenRoot(f.Path)
	if err != nil {
		return nil, ID{}, fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	id, err := IDOfDir(root)
	if err != nil {
		root.Close()
		return nil, ID{}, fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	return root, id, nil
}

// Find opens the directory that is there now, which is the vault's from then on. It is
// model.ErrOffline if none is there, or if it is empty and had says that the vault was not:
// that is what the mountpoint of a disk looks like when the disk is away.
func (f *Folder) Find(had func() bool) (disk.Dir, error) {
	root, id, err := f.openAny()
	if err != nil {
		return nil, err
	}
	if err := f.adopt(root, id, had); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func (f *Folder) adopt(root disk.Dir, id ID, had func() bool) error {
	empty, err := isEmpty(root)
	if err != nil {
		return fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	away := empty && had()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.offline = away; away {
		return fmt.Errorf("%w: the directory is empty", model.ErrOffline)
	}
	f.root = id
	return nil
}

// Present says whether the directory that Find found is still there, with had as in Find.
// If not, OpenRoot is model.ErrOffline until Find has found one.
func (f *Folder) Present(had func() bool) bool {
	root, id, err := f.openAny()
	if err == nil {
		defer root.Close()
		err = model.ErrOffline
		if f.isRoot(id) {
			err = f.adopt(root, id, had)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offline = err != nil
	return !f.offline
}

func isEmpty(dir disk.Dir) (bool, error) {
	// A folder has a link from each folder in it, on most disks: that is quicker
	// than a listing, and every look at the vault asks.
	if info, err := dir.Info(); err == nil && info.Links > 2 {
		return false, nil
	}
	names, err := dir.Names(1)
	return len(names) == 0, err
}

// OpenDir opens the folder at rel.
func (f *Folder) OpenDir(rel string) (disk.Dir, error) {
	dir, err := f.OpenRoot()
	if err != nil || rel == "" {
		return dir, err
	}
	for elem := range strings.SplitSeq(rel, "/") {
		next, err := dir.OpenDir(elem)
		dir.Close()
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fs.ErrNotExist // a symlink, or a file: nothing is served below
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// OpenTrash opens the vault's trash, and makes it if it is missing.
func (f *Folder) OpenTrash() (disk.Dir, error) {
	root, err := f.OpenRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch err := root.Mkdir(Trash); {
	case err == nil:
		if err := root.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // some disks cannot
			return nil, errors.Join(err, root.Rmdir(Trash))
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return root.OpenDir(Trash)
}

// Entry is where a path leads: an open folder and a name in it.
type Entry struct {
	Dir  disk.Dir
	Name string
	Rel  string
	Info disk.Info // when the place was found; Within leaves it out
}

// Close closes the folder, unless somebody else has taken it over and Dir is nil.
func (p *Entry) Close() {
	if p.Dir != nil {
		p.Dir.Close()
	}
}

// SyncFile makes the file durable.
func (p *Entry) SyncFile() error {
	f, err := p.Dir.Open(p.Name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Locate finds the file or folder at rel; fs.ErrNotExist if it is hidden or a symlink,
// which leads to a file that has a path itself. The caller closes the place.
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

// Within is the place rel, at which it does not look; fs.ErrNotExist if nothing is served
// there, whatever it is.
func (f *Folder) Within(rel string) (Entry, error) {
	if Reserved(rel) || !utf8.ValidString(rel) {
		return Entry{}, fs.ErrNotExist
	}
	dir, err := f.OpenDir(Parent(rel))
	return Entry{Dir: dir, Name: path.Base(rel), Rel: rel}, err
}

// Resolve is the place rel, symlink or not, hidden or not.
func (f *Folder) Resolve(rel string) (Entry, error) {
	dir, err := f.OpenDir(Parent(rel))
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

// Stat describes the file, folder or symlink at rel as it is now.
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
