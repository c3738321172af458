package fusefs

import (
	"context"
	"slices"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A listing that is begun in one handle and ended in another, between which
// names came and went, has every name that was there all the time, once.
func TestListingGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	handle := func(names ...string) *dirHandle {
		return &dirHandle{dir: new(fs.Inode), list: func(context.Context) ([]fuse.DirEntry, syscall.Errno) {
			var entries []fuse.DirEntry
			for _, name := range names {
				entries = append(entries, fuse.DirEntry{Name: name})
			}
			return entries, 0
		}}
	}
	read := func(h *dirHandle, most int) (names []string, last uint64) {
		for range most {
			e, errno := h.Readdirent(t.Context())
			if errno != 0 {
				t.Fatal(errno)
			}
			if e == nil {
				break
			}
			names, last = append(names, e.Name), e.Off
		}
		return names, last
	}
	stay := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n := range len(stay) + 3 {
		before := handle(append([]string{"gone 1", "gone 2", "gone 3"}, stay...)...)
		seen, off := read(before, n)
		after := handle(append([]string{"new"}, stay...)...)
		if errno := after.Seekdir(t.Context(), off); errno != 0 {
			t.Fatalf("after %d names: %v", n, errno)
		}
		rest, _ := read(after, 100)
		all := append(seen, rest...)
		for _, name := range stay {
			if i := slices.Index(all, name); i < 0 || slices.Contains(all[i+1:], name) {
				t.Errorf("after %d names: %q is not there once in %q", n, name, all)
			}
		}
	}
}
