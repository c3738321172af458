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

// maxRecent is the maximum total size, in bytes, of these texts. If a program opens a file that it looked up earlier, and
// the file has changed, the open fails, so that the kernel repeats the lookup. On a mount without handles an open cannot
// fail, so a reader may once see a mixture of two texts.
const maxRecent = 32 << 20

// add takes over a pin of f. size is the size that the kernel got.
func (r *recentFiles) add(f *File, size int64) {
	size += recentCost
	r.mu.Lock()
	var drop []*File
	if elem := r.files[f]; elem != nil {
		r.bytes -= r.order.Remove(elem).(recentFile).size
		drop = append(drop, f)
	}
	if r.files == nil {
		r.files = make(map[*File]*list.Element)
	}
	r.files[f] = r.order.PushFront(recentFile{f, size})
	r.bytes += size
	for r.bytes > maxRecent && r.order.Len() > 1 {
		old := r.order.Remove(r.order.Back()).(recentFile)
		r.bytes -= old.size
		delete(r.files, old.f)
		drop = append(drop, old.f)
	}
	r.mu.Unlock()
	for _, f := range drop {
		f.unpin()
	}
}
