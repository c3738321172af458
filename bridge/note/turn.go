package note

import "sync"

// turn is a lock that is handed on in the order in which it was asked for. It may be held across disk. A Mutex would not do:
// package synctest does not see who waits for one. A channel would, but takes thrice the memory, and each note has a turn.
type turn struct {
	mu      sync.Mutex // protects the following
	taken   bool
	waiting []chan struct{}
}

func (t *turn) take() {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return
	}
	mine := make(chan struct{})
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	<-mine
}

// try takes the turn if it is free.
func (t *turn) try() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true
	return true
}

// pass gives the turn to who has waited longest.
func (t *turn) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	if t.waiting = t.waiting[1:]; len(t.waiting) == 0 {
		t.waiting = nil // else the array stays
	}
}
