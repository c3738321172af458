//go:build !windows

package fusefs

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
)

// A change made elsewhere puts a new inode at a note's name (refresh.go). A program that watches a note instead of the
// note's folder watches the old inode, and the kernel keeps that inode for the watch. So the process that wakes
// watchers also touches the old inode. The old inode has lost its name; a hidden folder gives it a name that only this
// process can use.

// formerDir is the name of the hidden folder, at the top of the mount.
const formerDir = ".relayfs-former"

// formerInodes are the inodes that had a note's name and that the kernel has not forgotten.
type formerInodes struct {
	mu    sync.Mutex // guards the fields below
	files map[*File]model.Path
	dir   *ScratchDir // nil until first needed
}

// add keeps f, which had the name p, until the kernel has forgotten f and drop is called.
func (l *formerInodes) add(f *File, p model.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = make(map[*File]model.Path)
	}
	l.files[f] = p
}

func (l *formerInodes) drop(f *File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, f)
}

func nameOfFormer(f *File) string { return strconv.FormatUint(f.StableAttr().Gen, 16) }

// at returns the paths, relative to the top of the mount, of the inodes that had the name p.
func (l *formerInodes) at(p model.Path) (paths []model.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f, old := range l.files {
		if old == p {
			paths = append(paths, model.Path(formerDir).Join(nameOfFormer(f)))
		}
	}
	return paths
}

func (l *formerInodes) find(name string) *File {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f := range l.files {
		if nameOfFormer(f) == name {
			return f
		}
	}
	return nil
}

// lookupFormer looks up the folder of former inodes, and the names in it, for the process that wakes watchers. It
// returns nil for any other process or name. The kernel drops these names after a second, so that it can forget the
// inodes.
func (o *overlay) lookupFormer(ctx context.Context, name string, out *fuse.EntryOut) *fs.Inode {
	t := o.t
	top := o.EmbeddedInode() == t.root.EmbeddedInode() && name == formerDir
	if !top && o.EmbeddedInode() != t.former.inode() || !t.isWatchNotification(ctx) {
		return nil
	}
	out.SetEntryTimeout(1)
	if top {
		d := t.formerFolder()
		_ = d.attr(ctx, &out.Attr) // attr of a ScratchDir cannot fail
		return d.EmbeddedInode()
	}
	f := t.former.find(name)
	if f == nil {
		return nil
	}
	f.update(func(s *fileState) { f.fill(&out.Attr, f.EmbeddedInode(), s.text.Size(), s.text.ModTime(), 1) })
	time.AfterFunc(time.Second, func() { t.inval.renamed(o, name) })
	return f.EmbeddedInode()
}

func (l *formerInodes) inode() *fs.Inode {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dir == nil {
		return nil
	}
	return l.dir.EmbeddedInode()
}

func (t *tree) formerFolder() *ScratchDir {
	t.former.mu.Lock()
	defer t.former.mu.Unlock()
	if t.former.dir == nil {
		t.former.dir = &ScratchDir{overlay{common: t.newCommon(0o700)}}
		t.former.dir.touch()
		var ino uint64
		t.update(func(tb *tableState) { ino = tb.inos.next() })
		t.attach(t.former.dir, fuse.S_IFDIR, ino)
	}
	return t.former.dir
}
