package replica

import (
	"slices"
	"sync"
)

// maxResident is how many documents that nobody is connected to stay in memory.
const maxResident = 64

// resident bounds the memory of documents: those used last stay.
type resident struct {
	mu   sync.Mutex // protects the following
	docs []*Document
}

// add takes note of a document that has come into memory, whose mu is held, and
// lets go of others.
func (r *resident) add(d *Document) {
	if !d.note {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.docs = append(r.docs, d)
	if len(r.docs) <= maxResident {
		return
	}
	over := len(r.docs) - maxResident
	r.docs = slices.DeleteFunc(r.docs, func(x *Document) bool {
		if x == d || over == 0 || !x.evict() {
			return false
		}
		over--
		return true
	})
}
