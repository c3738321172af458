//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// Dir is a folder of the workspace, or the workspace itself. Scratch files lie
// over it.
type Dir struct {
	fs.Inode
	t  *tree
	id uint64 // in the workspace

	// The following are protected by t.mu.
	path    model.Path
	overlay overlay
	meta    meta
	changed time.Time // when a name in it last changed, as far as seen here
}

// folder is what a name can be in: a Dir or a ScratchDir.
type folder interface {
	node
	names() *overlay
	touchLocked()
}

func (d *Dir) names() *overlay { return &d.overlay }
func (d *Dir) touchLocked()    { d.changed = time.Now() }

// touch makes the folder's modification time new: the kernel keeps a listing for
// as long as that stays the same.
func (d *Dir) touch() {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	d.touchLocked()
}

func (d *Dir) attr(ctx context.Context, out *fuse.Attr) error {
	info, err := d.t.ws.Stat(ctx, d.t.pathOf(&d.path))
	if err != nil {
		return err
	}
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	modTime := info.ModTime
	if d.changed.After(modTime) {
		modTime = d.changed
	}
	d.meta.fill(out, d.EmbeddedInode(), 4096, modTime, 2)
	return nil
}

// Lookup finds a name: scratch first, because it hides what is below it.
func (d *Dir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	n, p, err := d.child(ctx, name)
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if f, ok := n.(*File); ok && f.isRetired() { // it was found out to, only now
		return d.Lookup(ctx, name, out)
	}
	if !isASCII(name) && (err != nil || p.Base() != name) {
		// Another spelling of a name (NFC, NFD) is told of no changes: not cached.
		out.SetEntryTimeout(1)
	}
	if err != nil {
		return nil, d.t.errno("lookup", p, err)
	}
	return n.EmbeddedInode(), 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// child finds a name. The path it returns is how the workspace spells it.
func (d *Dir) child(ctx context.Context, name string) (node, model.Path, error) {
	d.t.mu.Lock()
	n, p := d.overlay.get(name), d.path.Join(name)
	d.t.mu.Unlock()
	if n != nil {
		return n, p, nil
	}
	if err := model.CheckName(name); errors.Is(err, model.ErrNameTooLong) {
		return nil, p, err
	} else if err != nil {
		return nil, p, syscall.ENOENT // no such thing can be there
	}
	return d.t.lookup(ctx, p)
}

func (d *Dir) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.t.getattr(ctx, d, &d.path, out)
}

func (t *tree) getattr(ctx context.Context, n node, p *model.Path, out *fuse.AttrOut) syscall.Errno {
	if err := n.attr(ctx, &out.Attr); err != nil {
		return t.errno("getattr", t.pathOf(p), err)
	}
	return 0
}

func (d *Dir) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !d.t.isPoke(ctx) {
		if errno := d.chmod(ctx, in); errno != 0 {
			return errno
		}
		d.t.mu.Lock()
		d.meta.set(in, time.Now())
		d.t.mu.Unlock()
	}
	out.SetTimeout(cacheTimeout)
	return d.Getattr(ctx, nil, out)
}

// chmod gives the folder the permissions that a SETATTR says. In suggest mode, in which
// that cannot be, they are remembered: programs that copy folders do not go on otherwise.
func (d *Dir) chmod(ctx context.Context, in *fuse.SetAttrIn) syscall.Errno {
	d.t.mu.Lock()
	mode, ok := in.GetMode()
	ok = ok && mode&0o7777 != d.meta.mode
	p := d.path
	d.t.mu.Unlock()
	if !ok || d.t.ws.Options().Mode != bridge.Direct || p.Dir() == "" {
		return 0
	}
	return d.t.chmod(ctx, p, mode)
}

// OpendirHandle opens the folder for listing.
func (d *Dir) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &dirHandle{dir: d.EmbeddedInode(), list: d.list}, keepFlag(fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE), 0
}

func (d *Dir) list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	p := d.t.pathOf(&d.path)
	entries, err := d.t.ws.ReadDir(ctx, p)
	if err != nil {
		return nil, d.t.errno("list", p, err)
	}
	return d.listing(entries), 0
}

// listing is what the workspace lists, without what is parked, with what exists
// only here.
func (d *Dir) listing(entries []bridge.DirEntry) []fuse.DirEntry {
	t := d.t
	t.mu.Lock()
	defer t.mu.Unlock()
	list := d.overlay.list()
	for p, k := range t.fresh {
		if p.Dir() == d.path {
			entries = append(entries, bridge.DirEntry{Name: p.Base(), Kind: model.KindFile, ID: k.node.EmbeddedInode().StableAttr().Ino})
		}
	}
	for _, e := range entries {
		p := d.path.Join(e.Name)
		if t.parked[p] != nil || d.overlay.get(e.Name) != nil {
			continue
		}
		mode := uint32(syscall.S_IFREG)
		switch e.Kind {
		case model.KindDir:
			mode = syscall.S_IFDIR
		case model.KindLink:
			mode = syscall.S_IFLNK
		}
		list = append(list, fuse.DirEntry{Name: e.Name, Mode: mode, Ino: t.inoOf(p, e.ID)})
	}
	slices.SortFunc(list, func(a, b fuse.DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b fuse.DirEntry) bool { return a.Name == b.Name })
}

// Fsync makes the names in the folder durable.
func (d *Dir) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	p := d.t.pathOf(&d.path)
	return d.t.errno("fsync", p, d.t.ws.Sync(ctx, p))
}

func (d *Dir) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return statfs(out)
}

// statfs reports room: editors that see none refuse to save.
func statfs(out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize = 4096, 4096
	out.Blocks, out.Bfree, out.Bavail = 1<<28, 1<<27, 1<<27
	out.Files, out.Ffree = 1<<32, 1<<31
	out.NameLen = 255
	return 0
}

func (d *Dir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	p := d.t.pathOf(&d.path).Join(name)
	if err := model.CheckNewName(name); err != nil {
		return nil, d.t.errno("mkdir", p, err)
	}
	if name[0] == '.' { // .git, .claude; no program makes folders in order to save
		return d.t.mkScratchDir(ctx, d, name, mode, out)
	}
	if !d.t.bringFolderHome(ctx, p) {
		d.t.vacate(context.WithoutCancel(ctx), p)
		if err := d.t.ws.Mkdir(context.WithoutCancel(ctx), p, d.t.restructuring(ctx)); err != nil {
			return nil, d.t.errno("mkdir", p, err)
		}
	}
	n, _, err := d.child(ctx, name)
	if made, ok := n.(*Dir); ok {
		d.t.mu.Lock()
		made.meta.mode = mode & 0o7777
		d.t.mu.Unlock()
	}
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if err != nil {
		return nil, d.t.errno("mkdir", p, err)
	}
	return n.EmbeddedInode(), 0
}

// Rmdir removes a folder of the workspace if the structure policy lets it.
func (d *Dir) Rmdir(ctx context.Context, name string) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	defer d.t.inval.names.begin(d)()
	t := d.t
	n, p, err := d.child(ctx, name)
	if err != nil {
		return t.errno("rmdir", p, err)
	}
	if s, ok := n.(*ScratchDir); ok {
		return t.rmScratchDir(d, name, s)
	}
	dir, ok := n.(*Dir)
	if !ok {
		return syscall.ENOTDIR
	}
	defer t.holdCommits(dir)()
	return t.errno("rmdir", p, t.removeFolder(ctx, p, dir))
}

// removeFolder removes a folder if nothing is in it. Commits are held.
func (t *tree) removeFolder(ctx context.Context, p model.Path, dir *Dir) error {
	entries, err := t.ws.ReadDir(ctx, p)
	if err != nil {
		return err
	}
	t.mu.Lock()
	full := holdsScratch(dir) || slices.ContainsFunc(entries, func(e bridge.DirEntry) bool { return t.parked[p.Join(e.Name)] == nil })
	t.mu.Unlock()
	if full || t.hasFresh(p) {
		return model.ErrNotEmpty
	}
	if len(entries) > 0 && t.isRenamed(p) {
		t.parkFolder(ctx, p, dir)
		return nil
	}
	t.settleParked(ctx, p) // what was unlinked a moment ago is really gone now
	_, err = t.ws.Remove(ctx, p, t.restructuring(ctx))
	return err
}

// Link is refused: a document has one name. Programs fall back to a rename.
func (d *Dir) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}
