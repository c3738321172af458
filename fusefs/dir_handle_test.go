package fusefs

import (
	"slices"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A listing that ends with another listing than it began with, between which
// names came and went, has every name that was there all the time, once.
func TestListingGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	lists := func(names ...string) func() ([]fuse.DirEntry, syscall.Errno) {
		return func() ([]fuse.DirEntry, syscall.Errno) {
			var entries []fuse.DirEntry
			for _, name := range names {
				entries = append(entries, fuse.DirEntry{Name: name})
			}
			return entries, 0
		}
	}
	stay := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n := range len(stay) + 3 {
		var before, after listing
		first, errno := before.after(0, lists(append([]string{"gone 1", "gone 2", "gone 3"}, stay...)...))
		if errno != 0 {
			t.Fatal(errno)
		}
		var off uint64
		var all []string
		for _, e := range first[:n] {
			all, off = append(all, e.Name), e.Off
		}
		rest, errno := after.after(off, lists(append([]string{"new"}, stay...)...))
		if errno != 0 {
			t.Fatalf("after %d names: %v", n, errno)
		}
		for _, e := range rest {
			all = append(all, e.Name)
		}
		for _, name := range stay {
			if i := slices.Index(all, name); i < 0 || slices.Contains(all[i+1:], name) {
				t.Errorf("after %d names: %q is not there once in %q", n, name, all)
			}
		}
	}
}
