//go:build !windows

package fusefs

import (
	"container/list"
	"sync"
)

// recentFiles keeps the texts of the files whose sizes were requested last on a mount without handles. A program that
// requests the size of a file is about to read the text with that size, often without requesting the size again. Each
// file in the list has one pin. The total size of the texts is bounded, unless one text alone is larger.
type recentFiles struct {
	bound int64
	unpin func(*File)

	mu    sync.Mutex // guards the fields below
	files map[*File]*list.Element
	order list.List // recentFile values, the latest in front
	bytes int64
}

type recentFile struct {
	f    *File
	size int64 // size of the text plus recentCost
}

// recentCost is the cost in bytes of a file without text.
const recentCost = 256

func newRecentFiles(bound int64, unpin func(*File)) *recentFiles {
	return &recentFiles{bound: bound, unpin: unpin, files: make(map[*File]*list.Element)}
}

// add takes over a pin of f. size is the size that the kernel got.
func (r *recentFiles) add(f *File, size int64) {
	size += recentCost
	r.mu.Lock()
	var drop []*File
	if elem := r.files[f]; elem != nil {
		r.bytes -= r.order.Remove(elem).(recentFile).size
		drop = append(drop, f)
	}
	r.files[f] = r.order.PushFront(recentFile{f, size})
	r.bytes += size
	for r.bytes > r.bound && r.order.Len() > 1 {
		old := r.order.Remove(r.order.Back()).(recentFile)
		r.bytes -= old.size
		delete(r.files, old.f)
		drop = append(drop, old.f)
	}
	r.mu.Unlock()
	for _, f := range drop {
		r.unpin(f)
	}
}
