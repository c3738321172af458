//go:build !windows

package fusefs

import (
	"context"
	"strconv"
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

func nameOfFormer(f *File) string { return strconv.FormatUint(f.StableAttr().Gen, 16) }

// formersAt returns the paths, relative to the top of the mount, of the inodes that had the name p.
func (n *nodeTable) formersAt(p model.Path) (paths []model.Path) {
	n.update(func(tb *tableState) {
		for _, f := range tb.replaced[p] {
			paths = append(paths, model.Path(formerDir).Join(nameOfFormer(f)))
		}
	})
	return paths
}

func (n *nodeTable) findFormer(name string) (found *File) {
	n.update(func(tb *tableState) {
		for _, files := range tb.replaced {
			for _, f := range files {
				if nameOfFormer(f) == name {
					found = f
				}
			}
		}
	})
	return found
}

// lookupFormer looks up the folder of former inodes, and the names in it, for the process that wakes watchers. It
// returns nil for any other process or name. The kernel drops these names after a second, so that it can forget the
// inodes.
func (o *overlay) lookupFormer(ctx context.Context, name string, out *fuse.EntryOut) *fs.Inode {
	t := o.t
	top := o.EmbeddedInode() == t.root.EmbeddedInode() && name == formerDir
	if !t.isWatchNotification(ctx) || !top && o.EmbeddedInode() != t.formerFolder().EmbeddedInode() {
		return nil
	}
	out.SetEntryTimeout(1)
	if d := t.formerFolder(); top {
		_ = d.attr(ctx, &out.Attr) // attr of a ScratchDir cannot fail
		return d.EmbeddedInode()
	}
	f := t.findFormer(name)
	if f == nil {
		return nil
	}
	f.update(func(s *fileState) { f.fill(&out.Attr, f.EmbeddedInode(), s.text.Size(), s.text.ModTime(), 1) })
	time.AfterFunc(time.Second, func() { t.inval.renamed(o, name) })
	return f.EmbeddedInode()
}

func (t *tree) newFormerFolder() *ScratchDir {
	d := &ScratchDir{overlay{common: t.newCommon(0o700)}}
	d.touch()
	var ino uint64
	t.update(func(tb *tableState) { ino = tb.inos.next() })
	t.attach(d, fuse.S_IFDIR, ino)
	return d
}
