//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// Attachment is a file of the workspace that is not a note: an image, a PDF, a canvas. It shows the bytes of the file,
// or the proposed bytes if there are any. In suggest mode programs write a draft of it.
type Attachment struct {
	common

	mu sync.Mutex // guards the fields below
	// changed is set if a program has written to the file through this mount. attr then asks the file itself, because the
	// workspace reports such a write a little later.
	changed bool
	// size and modTime are the values that the kernel got last. They stay valid for programs that have the file open
	// after its name was removed.
	size    int64
	modTime time.Time
	from    *File  // the scratch file that became this attachment, while a program has that file open
	draft   *draft // new content, while a program has the file open for writing; always nil in direct mode

	madeIn program.Identity // the program run that created the file on this mount, or zero; see moveMadeOver
}

type attachmentHandle struct {
	a      *Attachment
	file   model.File
	writes bool
}

func (a *Attachment) attr(ctx context.Context, out *fuse.Attr) error {
	p, there := a.where()
	d := a.shared()
	var size int64
	var modTime time.Time
	var err error
	switch {
	case d != nil:
		size, modTime = d.state()
	case there:
		size, modTime, err = a.stat(ctx, p)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	links := uint32(1)
	if !there {
		links = 0
	}
	if there || d != nil {
		a.size, a.modTime = size, modTime
	}
	a.fill(out, a.EmbeddedInode(), a.size, a.modTime, links)
	return nil
}

func (a *Attachment) stat(ctx context.Context, p model.Path) (size int64, modTime time.Time, err error) {
	a.mu.Lock()
	changed := a.changed
	a.mu.Unlock()
	if !changed {
		info, err := a.t.ws.Stat(ctx, p)
		return info.Size, info.ModTime, err
	}
	file, err := a.t.ws.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return 0, time.Time{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// wrote records the size and time of the file after a write through this mount.
func (a *Attachment) wrote(info fs.FileInfo) {
	a.followContent()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed, a.size, a.modTime = true, info.Size(), info.ModTime()
}

func (a *Attachment) Setattr(ctx context.Context, fh gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		h, _ := fh.(*attachmentHandle)
		if err := a.truncate(ctx, h, int64(min(size, 1<<62))); err != nil {
			return a.t.errno.Of(ctx, "truncate", a.path(), err)
		}
	}
	if a.shared() == nil && !a.t.ws.IsProposed(a.path()) {
		if errno := a.chmod(ctx, in); errno != 0 {
			return errno
		}
	}
	return a.common.Setattr(ctx, nil, in, out)
}

func (a *Attachment) truncate(ctx context.Context, h *attachmentHandle, size int64) error {
	if h == nil || !h.writes {
		p, there := a.where()
		if !there {
			return syscall.ESTALE // another file may have the name, as in Open
		}
		h, err := a.openForWriting(ctx, p, os.O_WRONLY)
		if err != nil {
			return err
		}
		return errors.Join(h.file.Truncate(size), h.noteWrite(), h.file.Close())
	}
	return errors.Join(h.file.Truncate(size), h.noteWrite())
}

// openForWriting opens the attachment, whose path is p. It opens the draft if writes are proposals.
func (a *Attachment) openForWriting(ctx context.Context, p model.Path, flag int) (h *attachmentHandle, err error) {
	h = &attachmentHandle{a: a, writes: true}
	if a.t.ws.WritesFiles() != nil {
		h.file, err = a.openDraft(ctx, p, flag&os.O_TRUNC != 0)
	} else {
		h.file, err = a.t.ws.OpenFile(ctx, p, flag)
	}
	return h, err
}

func (h *attachmentHandle) noteWrite() error {
	if _, proposed := h.file.(*draft); proposed {
		h.a.followContent()
	} else {
		info, err := h.file.Stat()
		if err != nil {
			return err
		}
		h.a.wrote(info)
	}
	h.a.mu.Lock()
	from := h.a.from
	h.a.mu.Unlock()
	if from != nil {
		h.a.t.inval.content(h.a)
		h.a.t.inval.content(from)
	}
	return nil
}

func (a *Attachment) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if a.t.isWatchNotification(ctx) {
		return nil, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0 // the watchNotifier only opens files
	}
	p, there := a.where()
	if !there {
		return nil, 0, syscall.ESTALE // another file may have the name: the kernel looks it up again
	}
	// The kernel sends absolute offsets, even for appends. The file exists already.
	flag := int(flags) & (syscall.O_ACCMODE | syscall.O_TRUNC)
	writes := flag&syscall.O_ACCMODE != syscall.O_RDONLY
	if writes && a.t.draining.Load() {
		return nil, 0, syscall.EIO
	}
	if flag&syscall.O_ACCMODE == syscall.O_WRONLY {
		flag = flag&^syscall.O_ACCMODE | os.O_RDWR // the kernel reads the rest of a page that a program writes in part
	}
	if !writes {
		if d := a.shared(); d != nil {
			return &attachmentHandle{a: a, file: d}, fileCacheFlags | fuse.FOPEN_NOFLUSH, 0
		}
		file, err := a.t.ws.OpenFile(ctx, p, flag)
		if err != nil {
			return nil, 0, a.t.errno.Of(ctx, "open", p, err)
		}
		return &attachmentHandle{a: a, file: file}, fileCacheFlags | fuse.FOPEN_NOFLUSH, 0
	}
	h, err := a.openForWriting(ctx, p, flag)
	if err != nil {
		return nil, 0, a.t.errno.OfSave(ctx, "open", p, err)
	}
	if flag&syscall.O_TRUNC != 0 {
		err = h.noteWrite()
	}
	return h, fileCacheFlags, a.t.errno.Of(ctx, "open", p, err)
}

func (h *attachmentHandle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	file := h.file
	if d := h.a.shared(); d != nil {
		file = d // the handle was opened before the draft existed
	}
	n, err := file.ReadAt(dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, h.errno(ctx, "read", err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

func (h *attachmentHandle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	n, err := h.file.WriteAt(data, off)
	if err == nil {
		err = h.noteWrite()
	}
	return uint32(n), h.errno(ctx, "write", err)
}

// Flush is called for each close(2) of a descriptor of the handle. It proposes a draft before it returns, so close gets
// the error if that fails. A program may close a descriptor before the first write, for example a shell that redirects
// output.
func (h *attachmentHandle) Flush(ctx context.Context) syscall.Errno {
	d, proposed := h.file.(*draft)
	if !proposed || !h.writes || !d.due() {
		return 0
	}
	return h.a.t.errno.OfSave(ctx, "flush", h.a.path(), h.a.commit(ctx, d))
}

func (h *attachmentHandle) Fsync(ctx context.Context, _ uint32) syscall.Errno {
	return h.errno(ctx, "fsync", h.file.Sync())
}

func (h *attachmentHandle) Release(ctx context.Context) syscall.Errno {
	if _, proposed := h.file.(*draft); proposed && !h.writes {
		return 0
	}
	return h.errno(ctx, "close", h.file.Close())
}

func (h *attachmentHandle) errno(ctx context.Context, op string, err error) syscall.Errno {
	return h.a.t.errno.Of(ctx, op, h.a.path(), err)
}

// The methods below serve programs that have a scratch file open when a rename turns it into an attachment. The kernel
// has pages of both inodes. A write through one inode makes the kernel drop the pages of both.

// close is called when the last handle of the scratch file is closed.
func (h *attachmentHandle) close() {
	h.a.setFrom(nil)
	_ = h.Release(context.Background()) // Release logs an error
}

// setFrom sets the scratch file that became a, or nil when no program has that file open any more.
func (a *Attachment) setFrom(f *File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.from = f
}

// takeOver redirects the open handles of the scratch file f to the attachment. If f has changed since text was read
// from it, takeOver first writes the current content of f to the attachment.
func (a *Attachment) takeOver(ctx context.Context, f *File, text string) error {
	h, err := a.openForWriting(ctx, a.path(), os.O_RDWR)
	if err != nil {
		return err
	}
	f.update(func(s *fileState) {
		if now := s.text.String(); now != text {
			_, err = h.file.WriteAt([]byte(now), 0)
			err = errors.Join(err, h.file.Truncate(int64(len(now))))
		}
		if err == nil && len(s.handles) > 0 {
			s.alias = h
			s.text = content.WrittenText(new(content.Buffer))
			a.setFrom(f)
			h = nil
		}
	})
	if h != nil { // no program has the scratch file open any more
		err = errors.Join(err, h.file.Close())
	}
	return err
}
