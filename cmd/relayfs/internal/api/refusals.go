package api

import (
	"errors"
	"slices"
	"sync"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

const maxRefusals = 200

// Refusals stores the newest refusals of a mount, with the reasons, which an errno cannot carry. The zero value is
// empty.
type Refusals struct {
	mu    sync.Mutex      // guards the fields below
	last  []model.Refusal // oldest first, at most maxRefusals
	count int             // number of all refusals
}

// Add adds a refusal, with the next step if it is the same for all notes.
func (l *Refusals) Add(r model.Refusal) {
	if errors.Is(r.Err, model.ErrOffline) || errors.Is(r.Err, syscall.EMFILE) || model.IsFull(r.Err) {
		r.Text += "; " + Hint(r.Err)
	}
	r.Err = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	if len(l.last) == maxRefusals {
		l.last = slices.Delete(l.last, 0, 1)
	}
	l.last = append(l.last, r)
}

func (l *Refusals) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

func (l *Refusals) Of(p model.Path) []model.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []model.Refusal{}
	for _, r := range slices.Backward(l.last) {
		if p.Contains(r.Path) {
			list = append(list, r)
		}
	}
	return list
}
