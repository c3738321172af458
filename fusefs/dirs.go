//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sort"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

type Dir struct{ overlay }

func (*Dir) inWorkspace() bool { return true }

func (d *Dir) attr(ctx context.Context, out *fuse.Attr) error {
	info, err := d.t.ws.Stat(ctx, d.path())
	if err != nil {
		return err
	}
	modTime := info.ModTime
	if changed, _ := d.state(); changed.After(modTime) {
		modTime = changed
	}
	if modTime.IsZero() { // a server has no modification time for a folder without changes
		modTime = d.t.mounted
	}
	d.fill(out, d.EmbeddedInode(), 4096, modTime, 2)
	return nil
}

// Setattr sets the folder's permissions. In suggest mode only the mount stores them: the workspace must not change, and
// an error would make programs that copy folders fail.
func (d *Dir) Setattr(ctx context.Context, fh fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if d.t.ws.Options().Mode == bridge.Direct && d.path().Dir() != "" {
		if errno := d.chmod(ctx, in); errno != 0 {
			return errno
		}
	}
	return d.common.Setattr(ctx, fh, in, out)
}

func (o *overlay) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &dirHandle{dir: o}, dirCacheFlags, 0
}

func (d *Dir) list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno) {
	p := d.path()
	entries, err := d.t.ws.ReadDir(ctx, p)
	if err != nil {
		return nil, d.t.errno.Of(ctx, "list", p, err)
	}
	return d.listing(entries), 0
}

// listing returns the entries of the workspace, except deferred entries, and the nodes that exist only on this mount. A
// name may be there twice.
func (d *Dir) listing(found []bridge.Info) []fuse.DirEntry {
	dir, list := d.path(), d.dirEntries()
	d.t.update(func(tb *tableState) {
		for p, k := range tb.unnumbered {
			if p.Dir() == dir {
				found = append(found, bridge.Info{Path: p, Kind: model.KindFile, ID: k.node.EmbeddedInode().StableAttr().Ino})
			}
		}
		for _, e := range found {
			name := e.Path.Base()
			p := dir.Join(name)
			if tb.deferred[p] != nil || d.get(name) != nil {
				continue
			}
			mode := uint32(syscall.S_IFREG)
			switch e.Kind {
			case model.KindDir:
				mode = syscall.S_IFDIR
			case model.KindLink:
				mode = syscall.S_IFLNK
			}
			list = append(list, fuse.DirEntry{Name: name, Mode: mode, Ino: tb.inoOf(p, e.ID)})
		}
	})
	return list
}

func (d *Dir) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	p := d.path()
	return d.t.errno.Of(ctx, "fsync", p, d.t.ws.Sync(ctx, p))
}

// Statfs reports free space, because editors refuse to save if there is none.
func (*overlay) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize = 4096, 4096
	out.Blocks, out.Bfree, out.Bavail = 1<<28, 1<<27, 1<<27
	out.Files, out.Ffree = 1<<32, 1<<31
	out.NameLen = 255
	return 0
}

func (d *Dir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	p := d.path().Join(name)
	if err := model.CheckNewName(name); err != nil {
		return nil, d.t.errno.Of(ctx, "mkdir", p, err)
	}
	if name[0] == '.' { // .git or .claude; no program creates folders in order to save
		return d.mkScratchDir(ctx, name, mode, out)
	}
	if !d.t.restoreFolder(ctx, p) {
		d.t.dropDeferred(context.WithoutCancel(ctx), p)
		if err := d.t.ws.Mkdir(context.WithoutCancel(ctx), p, d.t.changeRequest(ctx)); err != nil {
			return nil, d.t.errno.Of(ctx, "mkdir", p, err)
		}
	}
	n, _, err := d.child(ctx, name)
	if made, ok := n.(*Dir); ok {
		made.setPermissions(mode)
	}
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if err != nil {
		return nil, d.t.errno.Of(ctx, "mkdir", p, err)
	}
	return n.EmbeddedInode(), 0
}

// Rmdir removes a folder. It removes a folder of the workspace only if the structure policy allows it.
func (o *overlay) Rmdir(ctx context.Context, name string) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	n, p, err := o.folder().child(ctx, name)
	if err != nil {
		return o.t.errno.Of(ctx, "rmdir", p, err)
	}
	switch n := n.(type) {
	case *ScratchDir:
		if !n.close() {
			return syscall.ENOTEMPTY
		}
		o.drop(name, n)
		return 0
	case *Dir:
		defer o.t.holdCommits(n)()
		return o.t.errno.Of(ctx, "rmdir", p, n.remove(ctx, p))
	}
	return syscall.ENOTDIR
}

// remove removes the folder at p, or defers the removal. It returns ErrNotEmpty unless the folder is empty except for
// deferred nodes. The caller must have called holdCommits.
func (d *Dir) remove(ctx context.Context, p model.Path) error {
	t := d.t
	entries, err := t.ws.ReadDir(ctx, p)
	if err != nil {
		return err
	}
	full, emptied := holdsScratch(d), len(entries) > 0
	t.update(func(tb *tableState) {
		full = full || slices.ContainsFunc(entries, func(e bridge.Info) bool { return tb.deferred[p.Join(e.Path.Base())] == nil })
		for at := range tb.unnumbered {
			full = full || at.Dir() == p
		}
		for at := range tb.removed {
			emptied = emptied || p.Contains(at)
		}
	})
	if full {
		return model.ErrNotEmpty
	}
	if emptied && t.isRenamed(p) {
		// The folder has only files that were unlinked a moment ago. The caller may be about to undo the folder's
		// rename (see restoreFolder).
		du := &deferredUnlink{why: whyUnlinked, by: t.changeRequest(ctx), proc: t.programs.Of(ctx)}
		t.update(func(tb *tableState) {
			tb.forget(p, d)
			t.deferAt(tb, p, du)
		})
		return nil
	}
	t.flushUnlinks(ctx, p) // remove the files that were unlinked a moment ago
	_, err = t.ws.Remove(ctx, p, t.changeRequest(ctx))
	return err
}

// dirHandle reads a listing. It lists the folder at the first read, not at the OPENDIR. Between the two, the kernel
// asks for the folder's modification time, and caches the listing under that time. If the listing were older than that
// time, the kernel would use an outdated listing as current.
type dirHandle struct {
	dir  *overlay
	rest []fuse.DirEntry // nil before the first read
}

func (h *dirHandle) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	if h.rest == nil {
		if errno := h.Seekdir(ctx, 0); errno != 0 {
			return nil, errno
		}
	}
	if len(h.rest) == 0 {
		return nil, 0
	}
	e := h.rest[0]
	h.rest = h.rest[1:]
	return &e, 0
}

// Seekdir moves to the first name with an offset after off. If off is the start, it lists the folder again, as
// rewinddir(3) requires.
func (h *dirHandle) Seekdir(ctx context.Context, off uint64) (errno syscall.Errno) {
	h.rest, errno = h.dir.listing.after(off, func() ([]fuse.DirEntry, syscall.Errno) {
		entries, errno := h.dir.folder().list(ctx)
		return append(dotEntries(h.dir.EmbeddedInode()), entries...), errno
	})
	return errno
}

// listing is the latest listing of a folder. All programs read it, each from its own offset, until one of them has read
// it to the end.
//
// The kernel may also return the first part of a listing from its cache, lose the cache, and request the rest by the
// offset of the last name. So an offset must mean the same in every listing, even if the listings differ. The offset is
// computed from the name, and names are listed in the order of their offsets.
type listing struct {
	mu      sync.Mutex
	entries []fuse.DirEntry // nil if no program is reading
}

// after returns the entries with an offset after off. It holds the lock while it lists the folder, so that a listing
// never replaces a newer one.
func (l *listing) after(off uint64, list func() ([]fuse.DirEntry, syscall.Errno)) ([]fuse.DirEntry, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if off == 0 || l.entries == nil {
		entries, errno := list()
		if errno != 0 {
			return nil, errno
		}
		for i := range entries {
			entries[i].Off = nameOffset(entries[i].Name)
		}
		slices.SortFunc(entries, func(a, b fuse.DirEntry) int { return cmp.Compare(a.Off, b.Off) })
		l.entries = slices.CompactFunc(entries, func(a, b fuse.DirEntry) bool { return a.Name == b.Name })
	}
	rest := l.entries[sort.Search(len(l.entries), func(i int) bool { return l.entries[i].Off > off }):]
	if len(rest) == 0 {
		l.entries = nil
	}
	return rest, 0
}

// Offsets of "." and "..", which every folder has, and of the first other name. Offset 0 is the start of the listing.
const (
	selfOffset = 1 + iota
	parentOffset
	firstOffset
)

// dotEntries returns a folder's entries for itself and for its parent. The parent of the root is outside of the mount
// and has no number here, so the root's own number is used.
func dotEntries(dir *fs.Inode) []fuse.DirEntry {
	self := fuse.DirEntry{Name: ".", Mode: syscall.S_IFDIR, Ino: dir.StableAttr().Ino}
	above := fuse.DirEntry{Name: "..", Mode: syscall.S_IFDIR, Ino: self.Ino}
	if _, parent := dir.Parent(); parent != nil {
		above.Ino = parent.StableAttr().Ino
	}
	return []fuse.DirEntry{self, above}
}

// nameOffset returns the offset of a name in every listing. The offset fits into a signed off_t.
func nameOffset(name string) uint64 {
	switch name {
	case ".":
		return selfOffset
	case "..":
		return parentOffset
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()>>2 + firstOffset
}
