//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
)

// Create makes a file: a note by its name, a scratch file by its name, or, where
// the workspace allows it, an attachment.
func (d *Dir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	n, p, err := d.child(ctx, name)
	switch {
	case err == nil && flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	case err == nil: // somebody else made it after the kernel had looked
		return d.t.openCreated(ctx, n, flags&^syscall.O_CREAT, out)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, 0, d.t.errno("create", p, err)
	}
	n, errno := d.create(ctx, name, p, mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return d.t.openCreated(ctx, n, flags&^(syscall.O_CREAT|syscall.O_EXCL|syscall.O_TRUNC), out)
}

func (d *ScratchDir) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	f, err := d.t.createScratch(ctx, d, name, mode)
	if err != nil {
		return nil, nil, 0, d.t.errno("create", model.Path(name), err)
	}
	return d.t.openCreated(ctx, f, flags, out)
}

// Mknod makes a regular file without opening it; nothing else can be made.
func (d *Dir) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	if mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, syscall.EPERM
	}
	_, p, err := d.child(ctx, name)
	if err == nil { // somebody else made it after the kernel had looked
		return nil, syscall.EEXIST
	}
	n, errno := d.create(ctx, name, p, mode)
	if errno != 0 {
		return nil, errno
	}
	return n.EmbeddedInode(), d.t.errno("mknod", p, n.attr(ctx, &out.Attr))
}

func (d *ScratchDir) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	defer d.t.inval.names.begin(d)()
	if mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, syscall.EPERM
	}
	f, err := d.t.createScratch(ctx, d, name, mode)
	if err != nil {
		return nil, d.t.errno("mknod", model.Path(name), err)
	}
	return f.EmbeddedInode(), d.t.errno("mknod", model.Path(name), f.attr(ctx, &out.Attr))
}

// openCreated opens what Create made or found.
func (t *tree) openCreated(ctx context.Context, n node, flags uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	opener, ok := n.(gofs.NodeOpener)
	if !ok {
		return nil, nil, 0, syscall.EISDIR
	}
	h, fuseFlags, errno := opener.Open(ctx, flags)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	if fh, ok := h.(*Handle); ok {
		fh.begins()
	}
	if err := n.attr(ctx, &out.Attr); err != nil {
		return nil, nil, 0, t.errno("create", "", err)
	}
	return n.EmbeddedInode(), h, fuseFlags, 0
}

// begins marks the handle as the one that will fill a file that is empty so far.
func (h *Handle) begins() {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if h.f.note && h.f.buf != nil && h.f.buf.emptied {
		h.wrote = true
	}
}

// create makes the file at a name that is free. p is its path, in the spelling of
// the note that was moved away from there, if one was.
func (d *Dir) create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno) {
	t := d.t
	if err := model.CheckNewName(name); err != nil {
		return nil, t.errno("create", p, err)
	}
	if t.ending.Load() {
		return nil, syscall.EIO
	}
	if isScratch(name) {
		f, err := t.createScratch(ctx, d, name, mode)
		return f, t.errno("create", p, err)
	}
	if errno := t.creatable(ctx, p); errno != 0 {
		return nil, errno
	}
	if p.IsNote() {
		return t.createNote(ctx, d, p, mode), 0
	}
	a, err := t.createAttachment(ctx, d, p, mode)
	if err != nil {
		return nil, t.errno("create", p, err)
	}
	return a, 0
}

// creatable refuses what the workspace would refuse once the bytes are there: a
// program looks at the error of open(2) more often than at that of close(2).
func (t *tree) creatable(ctx context.Context, p model.Path) syscall.Errno {
	if p.Dir() == "" {
		return syscall.EACCES // Folders come from the command line
	}
	info, err := t.ws.Stat(ctx, p.Dir())
	switch {
	case err != nil:
		return t.errno("create", p, err)
	case t.locked != nil:
		return t.commitErrno("create", p, &model.Error{Op: "create", Path: p, Err: t.locked})
	}
	return t.refusal("create", p, info)
}

func (t *tree) createScratch(ctx context.Context, dir folder, name string, mode uint32) (*File, error) {
	f := t.newFile(mode & 0o7777)
	f.buf = &buffer{modTime: time.Now()}
	var attr fuse.Attr
	_, err := t.addScratch(ctx, dir, name, f, syscall.S_IFREG, &attr)
	return f, err
}

// createNote makes a note that is empty so far. The workspace gets to know of it
// with its first bytes, or when it is left empty. At the name of a note that was
// renamed away or unlinked a moment ago it is that note, about to be written anew.
func (t *tree) createNote(ctx context.Context, d *Dir, p model.Path, mode uint32) *File {
	t.bringHome(ctx, p)
	by, now := t.procs.of(ctx), time.Now()
	f := t.newFile(mode & 0o7777)
	f.note, f.path = true, p
	f.buf = &buffer{emptied: true, first: true}
	t.mu.Lock()
	ino := t.newIno()
	if pk := t.unpark(p); pk != nil {
		f.doc, f.image, f.latest = pk.doc, pk.image, pk.image.version
		f.buf.from = pk.image
		ino = t.inos[pk.doc]
	}
	t.attach(f, syscall.S_IFREG, ino)
	t.put(p, f, f.doc)
	t.unsaved[f] = struct{}{}
	d.touchLocked()
	t.mu.Unlock()
	f.mu.Lock()
	f.changed(nil, by)
	f.buf.modTime = later(now, f.buf.from.modTime)
	f.mu.Unlock()
	return f
}

// createAttachment makes a file of the workspace that is not a note.
func (t *tree) createAttachment(ctx context.Context, d *Dir, p model.Path, mode uint32) (node, error) {
	if err := t.ws.CreateFile(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), t.restructuring(ctx)); err != nil {
		return nil, err
	}
	d.touch()
	info, err := t.ws.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.setIno(info.ID, t.newIno()) // not that of what had the name before
	t.mu.Unlock()
	n, _, err := t.lookup(ctx, p)
	if a, ok := n.(*Attachment); ok {
		a.mu.Lock()
		a.meta.mode = mode & 0o7777
		a.mu.Unlock()
	}
	return n, err
}
