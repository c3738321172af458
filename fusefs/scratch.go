//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/scratch"
)

// The scratch layer: files, folders and symbolic links that live in memory over
// the workspace's folders, seen through this mount only.

// scratchExpiry is when a scratch file that nobody touched and nobody has open
// is dropped. Programs that crash leave theirs behind.
const scratchExpiry = 24 * time.Hour

func (t *tree) newOverlay(mode uint32) overlay { return overlay{t: t, meta: t.newMeta(mode)} }

// has says whether a scratch node has this name in the folder.
func (o *overlay) has(name string) bool {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	return o.get(name) != nil
}

// isScratchAt says whether a new name in dir is scratch.
func isScratchAt(dir folder, name string) bool { return !dir.inWorkspace() || scratch.IsName(name) }

// addScratch puts a new scratch node in a folder.
func (o *overlay) addScratch(ctx context.Context, name string, n node, mode uint32, out *fuse.Attr) (*fs.Inode, error) {
	if err := model.CheckNewName(name); err != nil {
		return nil, err
	}
	o.t.mu.Lock()
	o.t.attach(n, mode, o.t.inos.Next())
	o.put(name, n)
	o.t.mu.Unlock()
	return n.EmbeddedInode(), n.attr(ctx, out)
}

// ScratchDir is a folder of the scratch layer. Everything in it is scratch.
type ScratchDir struct {
	fs.Inode
	overlay
	removed bool // protected by names.mu
}

func (*ScratchDir) inWorkspace() bool { return false }

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
	d.t.set(&d.meta, in)
	return d.Getattr(ctx, f, out)
}

func (d *ScratchDir) list(context.Context) ([]fuse.DirEntry, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	return d.dirEntries(), 0
}

func (d *ScratchDir) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

func (o *overlay) mkScratchDir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	d := &ScratchDir{overlay: o.t.newOverlay(mode & 0o7777)}
	d.self = d
	d.touch()
	in, err := o.addScratch(ctx, name, d, syscall.S_IFDIR, &out.Attr)
	return in, o.t.errno.Of("mkdir", model.Path(name), err)
}

func (o *overlay) rmScratchDir(name string, d *ScratchDir) syscall.Errno {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	if len(d.entries) > 0 {
		return syscall.ENOTEMPTY
	}
	o.drop(name)
	d.removed = true
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
	l.t.set(&l.meta, in)
	return l.Getattr(ctx, f, out)
}

func (l *ScratchLink) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(l.target), 0 }

func (o *overlay) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer o.t.inval.Begin(o.self)()
	if !isScratchAt(o.self, name) {
		return nil, syscall.EPERM
	}
	l := &ScratchLink{t: o.t, target: target, made: time.Now(), meta: o.t.newMeta(0o777)}
	in, err := o.addScratch(ctx, name, l, syscall.S_IFLNK, &out.Attr)
	return in, o.t.errno.Of("symlink", model.Path(name), err)
}

func (o *overlay) createScratch(ctx context.Context, name string, mode uint32) (*File, error) {
	f := o.t.newFile(mode & 0o7777)
	f.text = content.WrittenText(&content.Buffer{ModTime: time.Now()})
	var attr fuse.Attr
	_, err := o.addScratch(ctx, name, f, syscall.S_IFREG, &attr)
	return f, err
}

// unlinkScratch removes a name. done says that it is scratch.
func (o *overlay) unlinkScratch(name string) (errno syscall.Errno, done bool) {
	o.t.mu.Lock()
	n := o.get(name)
	if _, isDir := n.(*ScratchDir); n == nil || isDir {
		o.t.mu.Unlock()
		return syscall.EISDIR, n != nil
	}
	o.drop(name)
	o.t.mu.Unlock()
	if f, ok := n.(*File); ok {
		f.lose(life.Unlink)
	}
	return 0, true
}

func holdsScratch(n node) bool {
	d, ok := n.(folder)
	return ok && len(d.layer().entries) > 0
}

// expireScratch drops what nobody touched since before.
func (t *tree) expireScratch(before time.Time) {
	t.mu.Lock()
	var dirs []folder
	for _, k := range t.nodes {
		if holdsScratch(k.node) {
			dirs = append(dirs, k.node.(folder))
		}
	}
	t.mu.Unlock()
	for _, d := range dirs {
		for _, name := range d.layer().expire(before) {
			t.inval.Entry(d, name)
		}
	}
}

// expire drops the old scratch files and links of a folder, not the scratch
// folders in it: those are somebody's working tree.
func (o *overlay) expire(before time.Time) (expired []string) {
	o.t.mu.Lock()
	entries := maps.Clone(o.entries)
	o.t.mu.Unlock()
	for name, n := range entries {
		f, isFile := n.(*File)
		l, isLink := n.(*ScratchLink)
		if !(isFile && f.untouchedSince(before) || isLink && l.made.Before(before)) {
			continue
		}
		o.t.mu.Lock()
		if o.get(name) == n {
			o.drop(name)
		}
		o.t.mu.Unlock()
		if isFile {
			f.release()
		}
		expired = append(expired, name)
	}
	return expired
}
