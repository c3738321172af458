package api

import (
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
)

// most bounds the refusals that are kept.
const most = 200

// Refusals are the newest refusals of a mount: a program is told an errno, which carries no sentence. The zero value
// has none.
type Refusals struct {
	mu   sync.Mutex      // protects the following
	kept []model.Refusal // the oldest first
	all  int             // with those that are not kept any more
}

// Add keeps a refusal.
func (l *Refusals) Add(r model.Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all++
	if len(l.kept) == most {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	l.kept = append(l.kept, r)
}

// Count returns how many there were, also those that are not kept any more.
func (l *Refusals) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// Of returns the refusals that are about p or what is below it, the newest first. Without p they are
// about everything.
func (l *Refusals) Of(p model.Path) []model.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []model.Refusal{}
	for _, r := range slices.Backward(l.kept) {
		if p == "" || owner.IsWithin(string(p), string(r.Path)) {
			list = append(list, r)
		}
	}
	return list
}
