package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// dirHandle is an open folder. It lists at the first read, not when it is
// opened: in between the kernel asks for the folder's modification time, under
// which it then caches the listing, and a listing older than that time would be
// taken for current.
type dirHandle struct {
	list    func(context.Context) ([]fuse.DirEntry, syscall.Errno)
	entries []fuse.DirEntry
	listed  bool
	next    int
}

func (h *dirHandle) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	if errno := h.load(ctx); errno != 0 || h.next == len(h.entries) {
		return nil, errno
	}
	e := h.entries[h.next]
	h.next++
	e.Off = uint64(h.next)
	return &e, 0
}

func (h *dirHandle) load(ctx context.Context) syscall.Errno {
	if h.listed {
		return 0
	}
	entries, errno := h.list(ctx)
	if errno == 0 {
		h.entries, h.listed = entries, true
	}
	return errno
}

// Seekdir goes to an offset that Readdirent gave out. Back at the start the
// folder is listed anew, as rewinddir(3) has it.
func (h *dirHandle) Seekdir(ctx context.Context, off uint64) syscall.Errno {
	if off == 0 {
		h.listed = false
	}
	if errno := h.load(ctx); errno != 0 {
		return errno
	}
	if off > uint64(len(h.entries)) {
		return syscall.EINVAL
	}
	h.next = int(off)
	return 0
}
