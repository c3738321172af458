//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sort"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// dirHandle is an open folder. It lists at the first read, not when it is
// opened: in between the kernel asks for the folder's modification time, under
// which it then caches the listing, and a listing older than that time would be
// taken for current.
//
// The kernel may give out the first part of a listing from its cache, lose the
// cache, and ask us for the rest, by the offset of the last name. So an offset
// means the same in every listing, however different: it is made from the name,
// and names are listed in the order of their offsets.
type dirHandle struct {
	dir     *fs.Inode
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
	return &e, 0
}

func (h *dirHandle) load(ctx context.Context) syscall.Errno {
	if h.listed {
		return 0
	}
	entries, errno := h.list(ctx)
	if errno != 0 {
		return errno
	}
	for i := range entries {
		entries[i].Off = nameOffset(entries[i].Name)
	}
	slices.SortFunc(entries, func(a, b fuse.DirEntry) int { return cmp.Compare(a.Off, b.Off) })
	h.entries, h.listed = append(dots(h.dir), entries...), true
	return 0
}

// Offsets of the names that every folder has; 0 is the start.
const (
	selfOffset = 1 + iota
	parentOffset
	firstOffset
)

// dots are the entries of a folder for itself and for its parent. That of the
// root is outside of the mount, where only the kernel knows it.
func dots(dir *fs.Inode) []fuse.DirEntry {
	self := fuse.DirEntry{Name: ".", Mode: syscall.S_IFDIR, Ino: dir.StableAttr().Ino, Off: selfOffset}
	above := fuse.DirEntry{Name: "..", Mode: syscall.S_IFDIR, Ino: self.Ino, Off: parentOffset}
	if _, parent := dir.Parent(); parent != nil {
		above.Ino = parent.StableAttr().Ino
	}
	return []fuse.DirEntry{self, above}
}

// nameOffset is the offset of a name in every listing, small enough for a
// signed off_t.
func nameOffset(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()>>2 + firstOffset
}

// Seekdir goes behind the name whose offset is off, or to where it would be.
// Back at the start the folder is listed anew, as rewinddir(3) has it.
func (h *dirHandle) Seekdir(ctx context.Context, off uint64) syscall.Errno {
	if off == 0 {
		h.listed = false
	}
	if errno := h.load(ctx); errno != 0 {
		return errno
	}
	h.next = sort.Search(len(h.entries), func(i int) bool { return h.entries[i].Off > off })
	return 0
}
