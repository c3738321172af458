//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// Dir is a folder of the workspace, or the workspace itself. Scratch files lie
// over it.
type Dir struct {
	fs.Inode
	overlay
	place
	id uint64 // in the workspace
}

func (*Dir) inWorkspace() bool { return true }

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

func (d *Dir) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.t.getattr(ctx, d, &d.path, out)
}

func (d *Dir) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !d.t.isPoke(ctx) {
		if errno := d.chmod(ctx, in); errno != 0 {
			return errno
		}
		d.t.set(&d.meta, in)
	}
	out.SetTimeout(cacheTimeout)
	return d.Getattr(ctx, nil, out)
}

// chmod gives the folder the permissions that a SETATTR says. In suggest mode, in which
// that cannot be, they are remembered: programs that copy folders do not go on otherwise.
func (d *Dir) chmod(ctx context.Context, in *fuse.SetAttrIn) syscall.Errno {
	d.t.mu.Lock()
	p, mode := d.path, d.meta.mode
	d.t.mu.Unlock()
	if d.t.ws.Options().Mode != bridge.Direct || p.Dir() == "" {
		return 0
	}
	return d.t.chmod(ctx, p, in, mode)
}

// OpendirHandle opens the folder for listing.
func (o *overlay) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &dirHandle{dir: o.self.EmbeddedInode(), list: o.self.list}, keepFlag(fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE), 0
}

func (d *Dir) list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	p := d.t.pathOf(&d.path)
	entries, err := d.t.ws.ReadDir(ctx, p)
	if err != nil {
		return nil, d.t.errno.Of("list", p, err)
	}
	return d.listing(entries), 0
}

// listing is what the workspace lists, without what is parked, with what exists
// only here.
func (d *Dir) listing(entries []bridge.DirEntry) []fuse.DirEntry {
	t := d.t
	t.mu.Lock()
	defer t.mu.Unlock()
	list := d.dirEntries()
	for p, k := range t.fresh {
		if p.Dir() == d.path {
			entries = append(entries, bridge.DirEntry{Name: p.Base(), Kind: model.KindFile, ID: k.node.EmbeddedInode().StableAttr().Ino})
		}
	}
	for _, e := range entries {
		p := d.path.Join(e.Name)
		if t.parked[p] != nil || d.get(e.Name) != nil {
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

func (o *overlay) dirEntries() []fuse.DirEntry {
	list := make([]fuse.DirEntry, 0, len(o.entries))
	for _, name := range slices.SortedFunc(maps.Keys(o.entries), cmp.Compare[string]) {
		in := o.entries[name].EmbeddedInode().StableAttr()
		list = append(list, fuse.DirEntry{Name: name, Mode: in.Mode, Ino: in.Ino})
	}
	return list
}

// Fsync makes the names in the folder durable.
func (d *Dir) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	p := d.t.pathOf(&d.path)
	return d.t.errno.Of("fsync", p, d.t.ws.Sync(ctx, p))
}

// Statfs reports room: editors that see none refuse to save.
func (*overlay) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize = 4096, 4096
	out.Blocks, out.Bfree, out.Bavail = 1<<28, 1<<27, 1<<27
	out.Files, out.Ffree = 1<<32, 1<<31
	out.NameLen = 255
	return 0
}

// Link is refused: a document has one name. Programs fall back to a rename.
func (*overlay) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

func (d *Dir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	p := d.t.pathOf(&d.path).Join(name)
	if err := model.CheckNewName(name); err != nil {
		return nil, d.t.errno.Of("mkdir", p, err)
	}
	if name[0] == '.' { // .git, .claude; no program makes folders in order to save
		return d.mkScratchDir(ctx, name, mode, out)
	}
	if !d.t.bringFolderHome(ctx, p) {
		d.t.vacate(context.WithoutCancel(ctx), p)
		if err := d.t.ws.Mkdir(context.WithoutCancel(ctx), p, d.t.restructuring(ctx)); err != nil {
			return nil, d.t.errno.Of("mkdir", p, err)
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
		return nil, d.t.errno.Of("mkdir", p, err)
	}
	return n.EmbeddedInode(), 0
}

// Rmdir removes a folder, one of the workspace if the structure policy lets it.
func (o *overlay) Rmdir(ctx context.Context, name string) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	defer o.t.inval.Begin(o.self)()
	n, p, err := o.self.child(ctx, name)
	if err != nil {
		return o.t.errno.Of("rmdir", p, err)
	}
	switch n := n.(type) {
	case *ScratchDir:
		return o.rmScratchDir(name, n)
	case *Dir:
		defer o.t.holdCommits(n)()
		return o.t.errno.Of("rmdir", p, n.remove(ctx, p))
	}
	return syscall.ENOTDIR
}

// remove removes the folder, which is at p, if nothing is in it. Commits are held.
func (d *Dir) remove(ctx context.Context, p model.Path) error {
	t := d.t
	entries, err := t.ws.ReadDir(ctx, p)
	if err != nil {
		return err
	}
	t.mu.Lock()
	full := holdsScratch(d) || slices.ContainsFunc(entries, func(e bridge.DirEntry) bool { return t.parked[p.Join(e.Name)] == nil })
	for at := range t.fresh {
		full = full || at.Dir() == p
	}
	t.mu.Unlock()
	if full {
		return model.ErrNotEmpty
	}
	if len(entries) > 0 && t.isRenamed(p) {
		d.park(ctx, p)
		return nil
	}
	t.settleParked(ctx, p) // what was unlinked a moment ago is really gone now
	_, err = t.ws.Remove(ctx, p, t.restructuring(ctx))
	return err
}

func (d *ScratchDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	return d.mkScratchDir(ctx, name, mode, out)
}

// park parks a folder that is shown elsewhere than people have it, and in which
// nothing is left but what is parked: it may be about to be taken back.
func (d *Dir) park(ctx context.Context, p model.Path) {
	t := d.t
	by, proc := t.restructuring(ctx), t.procs.Of(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p, d)
	t.parkAt(p, &parking{why: whyUnlinked, by: by, proc: proc})
}
