//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

type Handle struct {
	f        *File
	by       program.Program
	reads    bool
	writes   bool
	appends  bool
	wrote    bool           // the handle has changed the content; guarded by the file's lock
	failed   syscall.Errno  // error of the last close or fsync, if the handle has not written since; guarded by the file's lock
	recorded *model.Version // version last recorded as shown; guarded by the file's lock
}

// recordRead records that h's process was shown a note's text, if that text is saved. A scratch file that was a note
// still shows the note's text: a program may move a note away and write it again from there.
func (f *fileState) recordRead(h *Handle) {
	b := f.text.Buffer()
	isSaved := f.text.State() == content.Loaded || b != nil && !b.Dirty()
	im, doc := f.text.Base(), cmp.Or(f.doc, f.movedDoc)
	if !h.reads || f.t.readOnlyErr != nil || doc == 0 || !isSaved || im.Version == h.recorded {
		return
	}
	h.recorded = im.Version
	f.t.shown.add(doc, h.by, im, true)
}

// maxStoredPages is the largest size, in bytes, of a note that storePages stores. It is the size of the kernel's own
// readahead.
const maxStoredPages = 128 << 10

// storePages gives the kernel the content with the answer to the first OPEN, because a program that opens a note for
// reading is about to read it. That saves a READ, which is a sixth of the time of a first search through all notes. If
// the kernel drops the pages later, it requests them as usual.
//
// It does so only if no other handle has the note open and no program is writing it. Then no request holds its pages,
// and the kernel has only pages of the image. (The kernel would copy a shorter text over a longer one and keep the
// size.) Errors of the call are ignored, because the call only saves time.
func (f *fileState) storePages() {
	if f.pagesStored || len(f.handles) > 1 || !keepCaches || f.t.handleless || f.life != stateLive || f.text.State() != content.Loaded {
		return
	}
	f.pagesStored = true
	if text := f.text.Image().Text; text != "" && len(text) <= maxStoredPages {
		_ = f.WriteCache(0, unsafe.Slice(unsafe.StringData(text), len(text)))
	}
}

// Read reads from the content whose size the kernel has cached.
func (h *Handle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	var n int
	var alias *attachmentHandle
	h.f.update(func(s *fileState) {
		if alias = s.alias; alias == nil {
			s.recordRead(h)
			n = s.text.ReadAt(dest, off)
		}
	})
	if alias != nil {
		return alias.Read(ctx, dest, off)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

func (h *Handle) Write(ctx context.Context, data []byte, off int64) (n uint32, errno syscall.Errno) {
	var alias *attachmentHandle
	h.f.update(func(s *fileState) {
		if alias = s.alias; alias == nil {
			errno = s.write(h, data, off)
		}
	})
	switch {
	case alias != nil:
		return alias.Write(ctx, data, off)
	case errno != 0:
		return 0, errno
	}
	return uint32(len(data)), 0
}

func (f *fileState) write(h *Handle, data []byte, off int64) syscall.Errno {
	if f.t.drained.Load() {
		f.failWrite(model.ErrClosed)
		return syscall.EIO
	}
	if errno := f.fits(max(f.text.Size(), off+int64(len(data)))); errno != 0 {
		f.failWrite(model.ErrTooLarge)
		return errno
	}
	f.edit().WriteAt(data, off)
	f.changed(h, h.by)
	return 0
}

// truncate sets the size. h is the handle through which it is set, or nil for truncate(2).
func (f *File) truncate(ctx context.Context, h *Handle, size int64) (errno syscall.Errno) {
	if errno := f.writable(ctx, h != nil); errno != 0 {
		return errno
	}
	prog := f.t.programs.Of(ctx)
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return f.t.errno.Of(ctx, "truncate", f.path(), err)
	}
	f.update(func(s *fileState) {
		s.text.Show()
		if errno = s.fits(size); errno == 0 && s.text.Size() != size {
			s.edit().Truncate(int(size))
			s.changed(h, prog)
		}
	})
	return errno
}

// writable returns an error if the content cannot be changed. started is set if a save has already begun.
func (f *File) writable(ctx context.Context, started bool) syscall.Errno {
	if f.t.drained.Load() || f.t.draining.Load() && !started {
		return syscall.EIO
	}
	var note, unstored bool
	var v *model.Version
	f.update(func(s *fileState) { note, unstored, v = s.life.IsNote(), s.doc == 0, s.text.Latest() })
	p := f.path()
	switch {
	case !note:
		return 0
	case f.t.readOnlyErr != nil:
		return f.t.errno.OfSave(ctx, "write", p, &model.Error{Op: "write", Path: p, Err: f.t.readOnlyErr})
	case v != nil && v.ReadOnly():
		return f.t.errno.Of(ctx, "write", p, &model.Error{Op: "write", Path: p, Err: model.ErrNotText})
	case unstored:
		return 0
	}
	info, err := f.t.ws.Stat(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // the file was removed while it was open
	}
	if err != nil {
		return f.t.errno.Of(ctx, "write", p, err)
	}
	return f.t.refusal(ctx, "write", p, info)
}

// Flush is called for each close(2) of a descriptor of the handle. If the handle wrote, Flush commits the file before
// it returns, unless the file was only truncated. If the commit fails, close gets the error. A program may close a
// descriptor before the first write, for example a shell that redirects output, and again after later writes. A shell also
// closes its descriptor after its child has reported that the text could not be saved: Flush does not save that text then,
// although that may have become possible.
func (h *Handle) Flush(ctx context.Context) syscall.Errno {
	var wrote bool
	var failed syscall.Errno
	var alias *attachmentHandle
	h.f.update(func(s *fileState) { wrote, failed, alias = h.wrote, h.failed, s.alias })
	switch {
	case alias != nil:
		return alias.Flush(ctx)
	case !wrote:
		return 0
	case failed != 0:
		return failed
	}
	return h.commit(ctx, "flush", false)
}

// Fsync makes the content of a note durable, even if it is empty. It gives a connected server some seconds to
// acknowledge the content. Even without an acknowledgement the content is on this machine's disk, which is what fsync
// promises. For a scratch file, Fsync only records the request.
func (h *Handle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if a := h.f.attachment(); a != nil {
		return a.Fsync(ctx, flags)
	}
	if errno := h.commit(ctx, "fsync", true); errno != 0 {
		return errno
	}
	t := h.f.t
	if h.f.syncScratch() {
		return 0
	}
	p := h.f.path()
	if err := t.ws.Sync(ctx, p); err != nil {
		return t.errno.Of(ctx, "fsync", p, err)
	}
	if !t.ws.Acknowledged(ctx, p) {
		t.log.Info("fsync: the server has not acknowledged the change yet", model.LogPath, string(p))
	}
	return 0
}

// syncScratch reports whether the workspace does not have the file. It does not sync such a file, but records the
// request, so that a later rename of the file over a note syncs the note.
func (f *File) syncScratch() (isScratch bool) {
	f.update(func(s *fileState) {
		isScratch = s.doc == 0
		if b := s.text.Buffer(); isScratch && b != nil {
			b.SyncedGen = b.Gen
		}
	})
	return isScratch
}

func (h *Handle) commit(ctx context.Context, op string, force bool) syscall.Errno {
	err := h.f.commit(ctx, force)
	errno := h.f.t.errno.OfSave(ctx, op, h.f.path(), err)
	h.f.update(func(s *fileState) {
		if b := s.text.Buffer(); errno == 0 || b == nil || b.FailedGen == b.Gen {
			h.failed = errno
		}
	})
	return errno
}

// Release ends the handle. It commits the pages that mmap wrote after the last FLUSH, and can only
// log a failure.
func (h *Handle) Release(ctx context.Context) syscall.Errno {
	var due bool
	var last *attachmentHandle // the attachment to close; nil if there is none
	h.f.update(func(s *fileState) {
		b := s.text.Buffer()
		due = h.wrote && s.life.IsNote() && b != nil && b.Due() && b.FailedGen != b.Gen
		for other := range s.handles {
			due = due && (other == h || !other.wrote || other.appends) // its program may have written a part of its text
		}
		if !due {
			last = s.end(h)
		}
	})
	if due {
		_ = h.commit(ctx, "release", false) // commit logs an error
		h.f.update(func(s *fileState) { last = s.end(h) })
	}
	if last != nil {
		last.close()
	}
	return 0
}

// end removes h. If h is the last handle that wrote, end drops a buffer whose commit failed, because the program got
// the error. The buffer of a note that the workspace does not have stays until the last handle ends. If h is the last
// handle, end returns the attachment that continues the file; the caller must close it.
func (f *fileState) end(h *Handle) (last *attachmentHandle) {
	if _, ok := f.handles[h]; !ok {
		return nil // the file was not opened
	}
	if delete(f.handles, h); len(f.handles) == 0 {
		f.handles = nil // an empty map needs memory, and the kernel may have 100,000 inodes cached
		last, f.alias = f.alias, nil
	}
	defer f.evict()
	defer f.forgetReplaced()
	b := f.text.Buffer()
	switch {
	case !f.life.IsNote() || b == nil || f.hasPositionedWriter():
	case !b.Dirty():
		f.releaseClean()
	case b.FailedGen == b.Gen && f.doc == 0 && len(f.handles) > 0: // the programs that have the new note open may still write it
	case b.FailedGen == b.Gen:
		f.discardBuffer()
	default:
		b.ModifiedAt = time.Now()
		f.scheduleTick(content.WritebackDelay)
	}
	return last
}
