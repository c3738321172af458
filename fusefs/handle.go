//go:build !windows

package fusefs

import (
	"context"
	"syscall"
	"time"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/process"
)

// Handle is one open descriptor of a File.
type Handle struct {
	f        *File
	by       process.Process
	reads    bool
	appends  bool
	wrote    bool           // changed the content; protected by f.mu
	recorded *model.Version // last one recorded as shown; protected by f.mu
}

// Open opens a note or a scratch file.
func (f *File) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	writes := flags&syscall.O_ACCMODE != syscall.O_RDONLY
	h := newHandle(ctx, f, flags)
	errno := f.t.errno.Of("open", f.t.pathOf(&f.path), f.learn(ctx))
	if errno == 0 && f.isLeft() {
		errno = syscall.ESTALE
	}
	if errno == 0 && writes {
		errno = f.writable(ctx, false)
	}
	if errno == 0 && writes && flags&syscall.O_TRUNC != 0 {
		errno = f.truncate(ctx, h, 0)
	}
	if errno != 0 {
		h.Release(ctx)
		return nil, 0, errno
	}
	return h, h.opened(writes), 0
}

// opened returns the flags of the answer to an OPEN.
func (h *Handle) opened(writes bool) uint32 {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.see()
	flags := keepFlag(fuse.FOPEN_KEEP_CACHE)
	if !writes {
		h.push()
		flags |= fuse.FOPEN_NOFLUSH
	}
	return flags
}

func newHandle(ctx context.Context, f *File, flags uint32) *Handle {
	h := &Handle{
		f: f, by: f.t.procs.Of(ctx),
		reads:   flags&syscall.O_ACCMODE != syscall.O_WRONLY,
		appends: flags&syscall.O_APPEND != 0,
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handles == nil {
		f.handles = make(map[*Handle]struct{})
	}
	f.handles[h] = struct{}{}
	return h
}

// see records that h's process is shown the note as it is, unless that could not be
// saved. f.mu is held.
func (h *Handle) see() {
	f := h.f
	im := f.text.Image()
	if !h.reads || f.t.locked != nil || f.doc == 0 || f.text.State() != content.Shown || im.Version == h.recorded {
		return
	}
	h.recorded = im.Version
	f.t.shown.Add(f.doc, h.by, im)
}

// maxPushed is the size of the largest note that is pushed: what the kernel reads
// ahead by itself.
const maxPushed = 128 << 10

// push gives the kernel the content with the answer to the first OPEN: whoever opens a note
// for reading is about to read it, and that saves a READ, a sixth of the time of a first
// search through all notes. If it drops the pages later, it asks as always.
//
// Nobody else has the note open, and nobody has written it here: then no request holds its
// pages, and the kernel has none but the image's. (It would lay a shorter text over a
// longer one, and keep the size.) Whether it succeeds does not matter. f.mu is held, so that
// nothing comes in between.
func (h *Handle) push() {
	f := h.f
	if f.pushed || len(f.handles) > 1 || !keepCaches || f.t.handleless || f.life != life.Live || f.text.State() != content.Shown {
		return
	}
	f.pushed = true
	if text := f.text.Image().Text; text != "" && len(text) <= maxPushed {
		_ = f.WriteCache(0, unsafe.Slice(unsafe.StringData(text), len(text)))
	}
}

// Read returns bytes of the content whose size the kernel has.
func (h *Handle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f := h.f
	f.mu.Lock()
	if a := f.exported; a != nil {
		f.mu.Unlock()
		return a.Read(ctx, dest, off)
	}
	defer f.mu.Unlock()
	h.see()
	return fuse.ReadResultData(dest[:f.text.ReadAt(dest, off)]), 0
}

// Write changes the shared buffer.
func (h *Handle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	f := h.f
	f.mu.Lock()
	if a := f.exported; a != nil {
		f.mu.Unlock()
		return a.Write(ctx, data, off)
	}
	defer f.mu.Unlock()
	if f.t.ended.Load() {
		f.spoil(model.ErrClosed)
		return 0, syscall.EIO
	}
	end := off + int64(len(data))
	if errno := f.fits(max(f.text.Size(), end)); errno != 0 {
		f.spoil(model.ErrTooLarge)
		return 0, errno
	}
	f.edit().WriteAt(data, off)
	f.changed(h, h.by)
	return uint32(len(data)), 0
}

// Flush is close(2), on one of the descriptors that share the handle: what the
// handle wrote is kept when it returns, or close reports why not. It may come
// before the first byte (a shell's redirection) and again after more.
func (h *Handle) Flush(ctx context.Context) syscall.Errno {
	h.f.mu.Lock()
	wrote := h.wrote
	h.f.mu.Unlock()
	if !wrote {
		return 0
	}
	return h.commit(ctx, "flush", false)
}

// Fsync keeps the content, also if it is empty, so that not even a power cut takes
// it. A server that is connected is given some seconds to acknowledge it; without it
// the content is on this machine's disk, which is what fsync promises.
func (h *Handle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if a := h.f.goesOnAs(); a != nil {
		return a.Fsync(ctx, flags)
	}
	if errno := h.commit(ctx, "fsync", true); errno != 0 {
		return errno
	}
	t := h.f.t
	if h.f.syncScratch() {
		return 0
	}
	p := t.pathOf(&h.f.path)
	if err := t.ws.Sync(ctx, p); err != nil {
		return t.errno.Of("fsync", p, err)
	}
	if !t.ws.Acknowledged(ctx, p) {
		t.log.Info("fsync: the server has not acknowledged it yet", model.LogPath, string(p))
	}
	return 0
}

// syncScratch is for a file that is in no Folder, which it says: nothing is synced but
// what it is renamed over.
func (f *File) syncScratch() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.doc != 0 {
		return false
	}
	if b := f.text.Buffer(); b != nil {
		b.Synced = b.Gen
	}
	return true
}

func (h *Handle) commit(ctx context.Context, op string, force bool) syscall.Errno {
	err := h.f.commit(ctx, force)
	return h.f.t.errno.OfSave(op, h.f.t.pathOf(&h.f.path), err)
}

// Release ends the handle. What came after the last flush, from a mapped page,
// is committed now; nobody can be told if that fails.
func (h *Handle) Release(ctx context.Context) syscall.Errno {
	f := h.f
	f.mu.Lock()
	b := f.text.Buffer()
	due := h.wrote && f.life.IsNote() && b != nil && b.Due() && b.Failed != b.Gen
	if !due {
		h.end()
		f.mu.Unlock()
		return 0
	}
	f.mu.Unlock()
	_ = h.commit(ctx, "release", false) // an error is logged
	f.mu.Lock()
	defer f.mu.Unlock()
	h.end()
	return 0
}

// end has the file forget h. A buffer whose commit failed goes with the last handle that
// wrote: its program has been told. f.mu is held.
func (h *Handle) end() {
	f := h.f
	delete(f.handles, h)
	if len(f.handles) == 0 && f.exported != nil {
		f.exported.close()
		f.exported = nil
	}
	if f.life.HasRetired() && !f.mayBeOpen() {
		f.t.left(f)
	}
	defer f.sleep()
	b := f.text.Buffer()
	switch {
	case !f.life.IsNote() || b == nil || f.frozen():
	case !b.Dirty():
		f.settle()
	case b.Failed == b.Gen:
		f.giveUp()
	default:
		b.Touched = time.Now()
		f.arm(content.Quiet)
	}
}
