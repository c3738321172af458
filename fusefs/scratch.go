//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
)

// The scratch layer: files, folders and symbolic links that live in memory over
// the workspace's folders, seen through this mount only.

const (
	// maxScratch bounds the bytes of all scratch files together; then ENOSPC.
	maxScratch = 256 << 20
	// scratchExpiry is when a scratch file that nobody touched and nobody has open
	// is dropped. Programs that crash leave theirs behind.
	scratchExpiry = 24 * time.Hour
)

// overlay holds the scratch names of one folder. tree.mu protects it.
type overlay struct{ entries map[string]node }

func (o *overlay) get(name string) node { return o.entries[name] }

func (o *overlay) put(name string, n node) {
	if o.entries == nil {
		o.entries = make(map[string]node)
	}
	o.entries[name] = n
}

func (o *overlay) drop(name string) { delete(o.entries, name) }

func (o *overlay) list() []fuse.DirEntry {
	list := make([]fuse.DirEntry, 0, len(o.entries))
	for _, name := range slices.SortedFunc(maps.Keys(o.entries), cmp.Compare[string]) {
		in := o.entries[name].EmbeddedInode().StableAttr()
		list = append(list, fuse.DirEntry{Name: name, Mode: in.Mode, Ino: in.Ino})
	}
	return list
}

// isScratchAt says whether a new name in dir is scratch.
func (t *tree) isScratchAt(dir folder, name string) bool {
	if _, inWorkspace := dir.(*Dir); !inWorkspace {
		return true
	}
	return isScratch(name)
}

// addScratch puts a new scratch node in a folder.
func (t *tree) addScratch(ctx context.Context, dir folder, name string, n node, mode uint32, out *fuse.Attr) (*fs.Inode, error) {
	if err := model.CheckNewName(name); err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.attach(n, mode, t.newIno())
	dir.names().put(name, n)
	dir.touchLocked()
	t.mu.Unlock()
	return n.EmbeddedInode(), n.attr(ctx, out)
}

// ScratchDir is a folder of the scratch layer. Everything in it is scratch.
type ScratchDir struct {
	fs.Inode
	t *tree

	// The following are protected by t.mu.
	overlay overlay
	meta    meta
	changed time.Time
	removed bool
}

func (d *ScratchDir) names() *overlay { return &d.overlay }
func (d *ScratchDir) touchLocked()    { d.changed = time.Now() }

func (d *ScratchDir) attr(_ context.Context, out *fuse.Attr) error {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	nlink := uint32(2)
	if d.removed {
		nlink = 0
	}
	d.meta.fill(out, d.EmbeddedInode(), 4096, d.changed, nlink)
	return nil
}

func (d *ScratchDir) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	_ = d.attr(ctx, &out.Attr) // it is in memory: it cannot fail
	return 0
}

func (d *ScratchDir) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	d.t.mu.Lock()
	d.meta.set(in, time.Now())
	d.t.mu.Unlock()
	return d.Getattr(ctx, f, out)
}

func (d *ScratchDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	d.t.mu.Lock()
	n := d.overlay.get(name)
	d.t.mu.Unlock()
	if n == nil {
		if err := model.CheckName(name); errors.Is(err, model.ErrNameTooLong) {
			return nil, syscall.ENAMETOOLONG
		}
		return nil, syscall.ENOENT
	}
	if err := n.attr(ctx, &out.Attr); err != nil {
		return nil, d.t.errno("lookup", model.Path(name), err)
	}
	return n.EmbeddedInode(), 0
}

func (d *ScratchDir) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &dirHandle{dir: d.EmbeddedInode(), list: d.list}, keepFlag(fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE), 0
}

func (d *ScratchDir) list(context.Context) ([]fuse.DirEntry, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	return d.overlay.list(), 0
}

func (d *ScratchDir) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

func (d *ScratchDir) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return statfs(out)
}

func (d *ScratchDir) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (d *ScratchDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	return d.t.mkScratchDir(ctx, d, name, mode, out)
}

func (d *ScratchDir) Rmdir(_ context.Context, name string) syscall.Errno {
	defer d.t.inval.names.begin(d)()
	d.t.mu.Lock()
	n := d.overlay.get(name)
	d.t.mu.Unlock()
	if s, ok := n.(*ScratchDir); ok {
		return d.t.rmScratchDir(d, name, s)
	}
	if n == nil {
		return syscall.ENOENT
	}
	return syscall.ENOTDIR
}

func (t *tree) mkScratchDir(ctx context.Context, parent folder, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	d := &ScratchDir{t: t, meta: t.newMeta(mode & 0o7777), changed: time.Now()}
	in, err := t.addScratch(ctx, parent, name, d, syscall.S_IFDIR, &out.Attr)
	return in, t.errno("mkdir", model.Path(name), err)
}

func (t *tree) rmScratchDir(parent folder, name string, d *ScratchDir) syscall.Errno {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(d.overlay.entries) > 0 {
		return syscall.ENOTEMPTY
	}
	d.removed = true
	parent.names().drop(name)
	parent.touchLocked()
	return 0
}

// ScratchLink is a symbolic link of the scratch layer, as emacs makes its locks.
type ScratchLink struct {
	fs.Inode
	t      *tree
	target string
	made   time.Time
	meta   meta // protected by t.mu
}

func (l *ScratchLink) attr(_ context.Context, out *fuse.Attr) error {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.meta.fill(out, l.EmbeddedInode(), int64(len(l.target)), l.made, 1)
	return nil
}

func (l *ScratchLink) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	_ = l.attr(ctx, &out.Attr) // it is in memory: it cannot fail
	return 0
}

func (l *ScratchLink) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	l.t.mu.Lock()
	l.meta.set(in, time.Now())
	l.t.mu.Unlock()
	return l.Getattr(ctx, f, out)
}

func (l *ScratchLink) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(l.target), 0 }

func (d *Dir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	return d.t.symlink(ctx, d, target, name, out)
}

func (d *ScratchDir) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	return d.t.symlink(ctx, d, target, name, out)
}

func (t *tree) symlink(ctx context.Context, dir folder, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if !t.isScratchAt(dir, name) {
		return nil, syscall.EPERM
	}
	l := &ScratchLink{t: t, target: target, made: time.Now(), meta: t.newMeta(0o777)}
	in, err := t.addScratch(ctx, dir, name, l, syscall.S_IFLNK, &out.Attr)
	return in, t.errno("symlink", model.Path(name), err)
}

// expireScratch drops what nobody touched since before.
func (t *tree) expireScratch(before time.Time) {
	t.mu.Lock()
	var dirs []*Dir
	for _, k := range t.nodes {
		if d, ok := k.node.(*Dir); ok && len(d.overlay.entries) > 0 {
			dirs = append(dirs, d)
		}
	}
	t.mu.Unlock()
	for _, d := range dirs {
		t.expireIn(d, before)
	}
}

// expireIn drops the old scratch files and links of a folder, not of the scratch
// folders in it: those are somebody's working tree.
func (t *tree) expireIn(d *Dir, before time.Time) {
	t.mu.Lock()
	entries := maps.Clone(d.overlay.entries)
	t.mu.Unlock()
	for name, n := range entries {
		expired := false
		switch n := n.(type) {
		case *File:
			expired = n.untouchedSince(before)
		case *ScratchLink:
			expired = n.made.Before(before)
		}
		if !expired {
			continue
		}
		t.mu.Lock()
		if d.overlay.get(name) == n {
			d.overlay.drop(name)
			d.touchLocked()
		}
		t.mu.Unlock()
		if f, ok := n.(*File); ok {
			f.release()
		}
		t.inval.entry(d, name)
	}
}
