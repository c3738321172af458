//go:build !windows

package fusefs

import (
	"container/list"
	"sync"
)

// recent keeps the files awake whose attributes were told last: whoever asked is about
// to read what has that size, and may not ask again before. A pin of a file goes with
// its place in the list.
type recent struct {
	bound int64

	mu    sync.Mutex // protects the following
	files map[*File]*list.Element
	order list.List // of recentFile, the latest in front
	bytes int64
}

type recentFile struct {
	f    *File
	size int64 // of its text, and what goes with it
}

// maxRecent bounds the texts that recent keeps awake. Who opens what was shown before
// that, and has changed, is told to look it up again. On a mount without handles nobody
// can be told: a reader may see a mixture once.
const (
	maxRecent           = 4 << 20
	maxRecentHandleless = 32 << 20
	recentCost          = 256 // of a note without text
)

// add takes over a pin of f, which was shown with size bytes.
func (r *recent) add(f *File, size int64) {
	size += recentCost
	r.mu.Lock()
	var drop []*File
	if r.files == nil {
		r.files = make(map[*File]*list.Element)
	}
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
		f.unpin()
	}
}
