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
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/scratch"
)

// Create makes a file: a note by its name, a scratch file by its name, or, where
// the workspace allows it, an attachment.
func (o *overlay) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	t, d := o.t, o.self
	defer t.inval.Begin(d)()
	n, p, err := d.child(ctx, name)
	switch {
	case err == nil && flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	case err == nil: // somebody else made it after the kernel had looked
		return t.openCreated(ctx, n, flags&^syscall.O_CREAT, out)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, 0, t.errno.Of("create", p, err)
	}
	n, errno := d.create(ctx, name, p, mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return t.openCreated(ctx, n, flags&^(syscall.O_CREAT|syscall.O_EXCL|syscall.O_TRUNC), out)
}

// Mknod makes a regular file without opening it; nothing else can be made.
func (o *overlay) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	t, d := o.t, o.self
	defer t.inval.Begin(d)()
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
	return n.EmbeddedInode(), t.errno.Of("mknod", p, n.attr(ctx, &out.Attr))
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
		return nil, nil, 0, t.errno.Of("create", "", err)
	}
	return n.EmbeddedInode(), h, fuseFlags, 0
}

// begins marks the handle as the one that will fill a file that is empty so far.
func (h *Handle) begins() {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if b := h.f.text.Buffer(); h.f.life.IsNote() && b != nil && b.Emptied {
		h.wrote = true
	}
}

func (d *ScratchDir) create(ctx context.Context, name string, _ model.Path, mode uint32) (node, syscall.Errno) {
	f, err := d.createScratch(ctx, name, mode)
	return f, d.t.errno.Of("create", model.Path(name), err)
}

func (d *Dir) create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno) {
	t := d.t
	if err := model.CheckNewName(name); err != nil {
		return nil, t.errno.Of("create", p, err)
	}
	if t.ending.Load() {
		return nil, syscall.EIO
	}
	if scratch.IsName(name) {
		f, err := d.createScratch(ctx, name, mode)
		return f, t.errno.Of("create", p, err)
	}
	if errno := t.creatable(ctx, p); errno != 0 {
		return nil, errno
	}
	if p.IsNote() {
		return d.createNote(ctx, p, mode), 0
	}
	a, err := d.createAttachment(ctx, p, mode)
	if err != nil {
		return nil, t.errno.Of("create", p, err)
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
		return t.errno.Of("create", p, err)
	case t.locked != nil:
		return t.errno.OfSave("create", p, &model.Error{Op: "create", Path: p, Err: t.locked})
	}
	return t.refusal("create", p, info)
}

// createNote makes a note that is empty so far. The workspace gets to know of it
// with its first bytes, or when it is left empty. At the name of a note that was
// renamed away or unlinked a moment ago it is that note, about to be written anew.
func (d *Dir) createNote(ctx context.Context, p model.Path, mode uint32) *File {
	t := d.t
	t.bringHome(ctx, p)
	by, now := t.procs.Of(ctx), time.Now()
	f := t.newFile(mode & 0o7777)
	f.life, f.path = life.Unborn, p
	b := &content.Buffer{Emptied: true, First: true}
	f.text = content.WrittenText(b)
	t.mu.Lock()
	ino := t.inos.Next()
	if pk := t.unpark(p); pk != nil {
		f.life, f.doc, b.From = life.Live, pk.doc, pk.image
		f.text.Learn(pk.image.Version)
		ino = t.inos.Of(p, pk.doc)
	}
	t.attach(f, syscall.S_IFREG, ino)
	t.put(p, f, f.doc)
	t.unsaved[f] = struct{}{}
	d.touch()
	t.mu.Unlock()
	f.mu.Lock()
	f.changed(nil, by)
	b.ModTime = content.Later(now, b.From.ModTime)
	f.mu.Unlock()
	return f
}

// createAttachment makes a file of the workspace that is not a note.
func (d *Dir) createAttachment(ctx context.Context, p model.Path, mode uint32) (node, error) {
	t := d.t
	if err := t.ws.CreateFile(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), t.restructuring(ctx)); err != nil {
		return nil, err
	}
	d.nameChanged()
	info, err := t.ws.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.inos.Set(info.ID, t.inos.Next()) // not that of what had the name before
	t.mu.Unlock()
	n, _, err := t.lookup(ctx, p)
	if a, ok := n.(*Attachment); ok {
		a.mu.Lock()
		a.meta.mode = mode & 0o7777
		a.mu.Unlock()
	}
	return n, err
}
