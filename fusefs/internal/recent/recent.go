// Package recent keeps the files awake whose size was asked for last: a program that asks
// for the size of a file is about to read what has that size, and may not ask again before.
// Each file in the list has one pin.
package recent

import (
	"container/list"
	"sync"
)

// List holds files within a bound of bytes.
type List[F comparable] struct {
	bound int64
	unpin func(F)

	mu    sync.Mutex // protects the following
	files map[F]*list.Element
	order list.List // of entry, the latest in front
	bytes int64
}

type entry[F any] struct {
	f    F
	size int64 // of its text, and what goes with it
}

// cost is that of a file without text.
const cost = 256

// New makes a list that unpins what it drops.
func New[F comparable](bound int64, unpin func(F)) *List[F] {
	return &List[F]{bound: bound, unpin: unpin, files: make(map[F]*list.Element)}
}

// Add takes over a pin of f, which was shown with size bytes.
func (r *List[F]) Add(f F, size int64) {
	size += cost
	r.mu.Lock()
	var drop []F
	if elem := r.files[f]; elem != nil {
		r.bytes -= r.order.Remove(elem).(entry[F]).size
		drop = append(drop, f)
	}
	r.files[f] = r.order.PushFront(entry[F]{f, size})
	r.bytes += size
	for r.bytes > r.bound && r.order.Len() > 1 {
		old := r.order.Remove(r.order.Back()).(entry[F])
		r.bytes -= old.size
		delete(r.files, old.f)
		drop = append(drop, old.f)
	}
	r.mu.Unlock()
	for _, f := range drop {
		r.unpin(f)
	}
}
