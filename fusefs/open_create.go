//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
)

func (f *File) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if f.t.isWatchNotification(ctx) {
		return nil, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0 // the watchNotifier only opens files
	}
	f.t.used.Store(true)
	h := newHandle(ctx, f, flags)
	errno := h.open(ctx)
	if errno == 0 && h.writes {
		errno = f.writable(ctx, false)
	}
	if errno == 0 && h.writes && flags&syscall.O_TRUNC != 0 {
		errno = f.truncate(ctx, h, 0)
	}
	if errno != 0 {
		h.Release(ctx)
		return nil, 0, h.keep(ctx, errno)
	}
	answer := uint32(fileCacheFlags)
	switch {
	case !h.writes:
		answer |= fuse.FOPEN_NOFLUSH
		f.update(func(s *fileState) {
			s.recordRead(h)
			s.storePages()
		})
	case h.reads: // without cached pages, the kernel sends a READ if the program reads before it writes
		answer &^= fuse.FOPEN_KEEP_CACHE
	}
	return h, answer, 0
}

// open makes h a handle of its file. The newest version must be known by then: only a text that lacks this version is
// held for another session.
func (h *Handle) open(ctx context.Context) syscall.Errno {
	f := h.f
	kept := f.t.takeReserved(ctx, f, f.path())
	errno := f.t.errno.Of(ctx, "open", f.path(), f.pin(ctx))
	defer f.unpin()
	if errno == 0 {
		errno = f.admit(ctx, h, kept != nil)
	}
	if errno == 0 && f.mustReopen(kept != nil) {
		errno = syscall.ESTALE
	}
	if kept != nil {
		kept.Release(ctx)
		if errno == syscall.ESTALE { // the kernel would not repeat the open again
			errno = f.t.errno.Of(ctx, "open", f.path(), model.ErrConflict)
		}
	}
	return errno
}

func newHandle(ctx context.Context, f *File, flags uint32) *Handle {
	return &Handle{
		f: f, by: f.t.programs.Of(ctx),
		reads:   flags&syscall.O_ACCMODE != syscall.O_WRONLY,
		writes:  flags&syscall.O_ACCMODE != syscall.O_RDONLY,
		appends: flags&syscall.O_APPEND != 0,
	}
}

// Create creates a file. Its name decides whether it is a note or a scratch file or, if the workspace allows it, an
// attachment.
func (o *overlay) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	t, d := o.t, o.folder()
	n, p, err := d.child(ctx, name)
	switch {
	case err == nil && flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	case err == nil: // another program created it after the kernel's lookup
		return t.openCreated(ctx, n, flags&^syscall.O_CREAT, out)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, 0, t.errno.Of(ctx, "create", p, err)
	}
	n, errno := d.create(ctx, name, p, mode)
	if a, ok := n.(*Attachment); ok && errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		errno = a.closeUnwritten(ctx)
	}
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return t.openCreated(ctx, n, flags&^(syscall.O_CREAT|syscall.O_EXCL|syscall.O_TRUNC), out)
}

// Mknod creates a regular file. It refuses other kinds.
func (o *overlay) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, syscall.EPERM
	}
	n, h, _, errno := o.Create(ctx, name, syscall.O_RDONLY|syscall.O_EXCL, mode, out)
	if r, ok := h.(gofs.FileReleaser); ok {
		r.Release(ctx)
	}
	return n, errno
}

func (t *tree) openCreated(ctx context.Context, n node, flags uint32, out *fuse.EntryOut) (*gofs.Inode, gofs.FileHandle, uint32, syscall.Errno) {
	opener, ok := n.(gofs.NodeOpener)
	if !ok {
		return nil, nil, 0, syscall.EISDIR
	}
	h, fuseFlags, errno := opener.Open(ctx, flags)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	if fh, ok := h.(*Handle); ok { // the program is about to write to the file if it is still empty
		fh.f.update(func(s *fileState) {
			if b := s.text.Buffer(); s.life.IsNote() && b != nil && b.Truncated {
				fh.wrote = true
			}
		})
	}
	if err := n.attr(ctx, &out.Attr); err != nil {
		return nil, nil, 0, t.errno.Of(ctx, "create", "", err)
	}
	return n.EmbeddedInode(), h, fuseFlags, 0
}

var errNoExtension = errors.New("a new file without an extension is not proposed; it exists only on the mount")

func (d *Dir) create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno) {
	t := d.t
	if err := model.CheckNewName(name); err != nil {
		return nil, t.errno.Of(ctx, "create", p, err)
	}
	if t.draining.Load() {
		return nil, syscall.EIO
	}
	if isScratchName(name) {
		f, err := d.createScratch(ctx, name, mode)
		return f, t.errno.Of(ctx, "create", p, err)
	}
	if errno := t.creatable(ctx, p); errno != 0 {
		return nil, errno
	}
	if p.IsNote() {
		return d.createNote(ctx, p, mode), 0
	}
	refused := t.ws.MayWriteFile(p)
	switch {
	case refused != nil:
	case t.ws.WritesFiles() == nil: // the workspace creates the file at once
		a, err := d.createAttachment(ctx, p, mode)
		if !errors.Is(err, model.ErrReadOnly) {
			return a, t.errno.Of(ctx, "create", p, err)
		}
		refused = err // for example, a server that stores no files
	case path.Ext(name) != "":
		return d.createDraft(ctx, p, mode), 0
	default: // programs rename most of these files over a note within a moment (sed -i)
		refused = errNoExtension
	}
	if isAttachmentName(name) {
		return nil, t.errno.OfSave(ctx, "create", p, refused)
	}
	f, err := d.createScratch(ctx, name, mode)
	if err != nil {
		return nil, t.errno.Of(ctx, "create", p, err)
	}
	d.reportLeft(name, f, t.programs.Of(ctx), refused)
	return f, 0
}

// creatable returns the error that the workspace would return for the first commit of a new file at p. So open(2) can
// fail with this error, which programs check more often than an error of close(2).
func (t *tree) creatable(ctx context.Context, p model.Path) syscall.Errno {
	if p.Dir() == "" {
		return t.errno.OfSave(ctx, "create", p, &model.Error{Op: "create", Path: p, Err: model.ErrTop})
	}
	info, err := t.ws.Stat(ctx, p.Dir())
	switch {
	case err != nil:
		return t.errno.Of(ctx, "create", p, err)
	case t.readOnlyErr != nil:
		return t.errno.OfSave(ctx, "create", p, &model.Error{Op: "create", Path: p, Err: t.readOnlyErr})
	}
	if errno := t.refusal(ctx, "create", p, info); errno != 0 {
		return errno
	}
	return t.errno.Of(ctx, "create", p, t.ws.MayWrite(p))
}

// createNote creates an empty note. The workspace gets the note with its first commit. If a note of that name was
// renamed away or unlinked a moment ago, the new inode continues that note, because the program is about to write it
// again.
func (d *Dir) createNote(ctx context.Context, p model.Path, mode uint32) *File {
	t := d.t
	t.putBack(ctx, p)
	t.deferAtSourcePath(ctx, p)
	prog, now := t.programs.Of(ctx), time.Now()
	f := t.newFile(mode & 0o7777)
	f.moveTo(p)
	b := &content.Buffer{Truncated: true}
	f.state.life, f.state.text = stateLive, content.WrittenText(b)
	t.update(func(tb *tableState) {
		ino := tb.inos.next()
		if du := tb.cancelUnlink(p); du != nil {
			f.state.doc, b.Base = du.doc, du.image
			f.state.text.SetLatest(du.image.Version)
			ino = tb.inos.of(p, du.doc)
			tb.lastUnlink[prog.Identity] = now
		}
		t.attach(f, syscall.S_IFREG, ino)
		tb.put(p, f, f.state.doc)
	})
	t.dirtyFiles.Store(f, nil)
	d.touch()
	f.update(func(s *fileState) {
		s.changed(nil, prog)
		b.ModTime = model.NextModTime(b.Base.ModTime, now)
	})
	return f
}

func (d *Dir) createAttachment(ctx context.Context, p model.Path, mode uint32) (node, error) {
	t := d.t
	if err := t.ws.CreateFile(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), t.changeRequest(ctx)); err != nil {
		return nil, err
	}
	d.touch()
	info, err := t.ws.Stat(ctx, p)
	if err != nil {
		return nil, err
	}
	t.update(func(tb *tableState) { tb.inos.set(info.ID, tb.inos.next()) }) // the previous node of that name keeps the old number
	n, _, err := t.lookup(ctx, p)
	if a, ok := n.(*Attachment); ok {
		a.setPermissions(mode)
		a.setMadeIn(t.programs.Of(ctx).Run)
	}
	return n, err
}
