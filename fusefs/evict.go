//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// The kernel keeps names and inodes as long as it has free memory, and each costs this process half a kilobyte. After
// one search through a vault, the kernel could keep all of them forever. So if the mount was not used for a while,
// relayfs asks the kernel to forget the notes that were looked up longest ago. A program that needs one of these notes
// looks it up again.

const (
	// maxIdle is the number of notes that an idle mount leaves to the kernel.
	maxIdle = 16 << 10
	// evictBatch is the number of notes to evict before checking whether the mount is used again.
	evictBatch = 256
)

// evict makes the kernel forget notes if the mount was not used since the last call. keep is the number of the most
// recently looked up notes that evict leaves to the kernel.
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
		t.inval.flush(ctx)
		if t.used.Load() || ctx.Err() != nil {
			return
		}
	}
}

func (n *nodeTable) oldest(keep int) (notes []nodeEntry) {
	n.update(func(tb *tableState) {
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
	slices.SortFunc(notes, func(a, b nodeEntry) int { return a.used.Compare(b.used) })
	return notes[:max(len(notes)-keep, 0)]
}

// isOpen reports whether the file has a handle, is being saved, or was just saved (nameHold).
func (f *File) isOpen() (open bool) {
	f.update(func(s *fileState) { open = len(s.handles) > 0 || s.text.Buffer() != nil || !s.nameHold.until.IsZero() })
	return open
}

// forgetUnused drops the nodes that the kernel has forgotten, except nodes with scratch files, with attributes that a
// program has set, or with text in use. Forgotten nodes are no longer in go-fuse's tree of names, which mirrors the
// kernel's names. forgetUnused also keeps nodes that were looked up after the given time, because the answer to the
// lookup may be on its way to the kernel.
func (t *tree) forgetUnused(before time.Time) {
	unused := make(map[model.Path]*nodeEntry)
	t.update(func(tb *tableState) {
		for p, k := range tb.nodes {
			if _, parent := k.node.EmbeddedInode().Parent(); parent == nil && p != "" && k.id != 0 && k.used.Before(before) {
				unused[p] = k
			}
		}
	})
	maps.DeleteFunc(unused, func(_ model.Path, k *nodeEntry) bool { // not under the table's lock, because it locks files
		f, ok := k.node.(*File)
		return ok && f.isOpen() || holdsScratch(k.node) || k.node.wereSet()
	})
	t.update(func(tb *tableState) {
		for p, k := range unused {
			if tb.nodes[p] == k && k.used.Before(before) {
				tb.forget(p, k.node)
			}
		}
	})
}
