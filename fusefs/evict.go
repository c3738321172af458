//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// The kernel keeps names and inodes for as long as it has memory to spare, and each costs this process half a kilobyte: for
// good, after one search through a vault. So when nobody has used the mount for a while, the kernel is asked to forget
// the notes that were looked up longest ago. A program that comes back to one looks it up again.

const (
	// maxIdle is how many notes an idle mount leaves to the kernel.
	maxIdle = 16 << 10
	// evictBatch is how many the kernel is asked to forget before somebody who uses the mount again is noticed.
	evictBatch = 256
)

// evict has the kernel forget notes but the latest so many, if nobody has used the mount since it was last called.
func (t *tree) evict(ctx context.Context, keep int) {
	if t.used.Swap(false) {
		return
	}
	for batch := range slices.Chunk(t.oldest(keep), evictBatch) {
		for _, k := range batch {
			f := k.node.(*File)
			if dir := t.folderOf(f.path()); dir != nil && !f.isOpen() {
				t.inval.renamed(dir, f.path().Base())
			}
		}
		t.inval.told(ctx)
		if t.used.Load() || ctx.Err() != nil {
			return
		}
	}
}

// oldest are the notes that the kernel knows, but for the latest so many.
func (n *names) oldest(keep int) (notes []known) {
	n.update(func(tb *table) {
		for _, k := range tb.nodes {
			f, ok := k.node.(*File)
			if !ok || k.id == 0 {
				continue
			}
			if _, parent := f.Parent(); parent != nil {
				notes = append(notes, *k)
			}
		}
	})
	slices.SortFunc(notes, func(a, b known) int { return a.used.Compare(b.used) })
	return notes[:max(len(notes)-keep, 0)]
}

// isOpen says that somebody has the file open, or that it is being saved.
func (f *File) isOpen() (open bool) {
	f.update(func(s *fileState) { open = len(s.handles) > 0 || s.text.Buffer() != nil || !s.hold.until.IsZero() })
	return open
}

// isPinned says that somebody may be about to open the file.
func (f *File) isPinned() (pinned bool) {
	f.update(func(s *fileState) { pinned = s.pins > 0 })
	return pinned
}

// forgetUnused drops the nodes that the kernel has forgotten: they are not in go-fuse's tree of names, which mirrors the
// kernel's. One that was looked up since before may be on its way there.
func (t *tree) forgetUnused(before time.Time) {
	unused := make(map[model.Path]*known)
	t.update(func(tb *table) {
		for p, k := range tb.nodes {
			if _, parent := k.node.EmbeddedInode().Parent(); parent == nil && p != "" && k.id != 0 && k.used.Before(before) {
				unused[p] = k
			}
		}
	})
	maps.DeleteFunc(unused, func(_ model.Path, k *known) bool { // asks files, which lock themselves before the table
		f, ok := k.node.(*File)
		return ok && (f.isOpen() || f.isPinned()) || holdsScratch(k.node) || k.node.wereSet()
	})
	t.update(func(tb *table) {
		for p, k := range unused {
			if tb.nodes[p] == k && k.used.Before(before) {
				tb.forget(p, k.node)
			}
		}
	})
}
