package note

import "sync"

// fifoMutex is a FIFO lock that may be held across disk I/O. It is not a sync.Mutex, because package synctest does not
// recognise goroutines that wait for a Mutex as blocked. It is not a channel, because a channel takes three times the
// memory, and each note has a lock.
type fifoMutex struct {
	mu      sync.Mutex // guards the fields below
	taken   bool
	waiting []chan struct{}
}

func (t *fifoMutex) lock() {
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

func (t *fifoMutex) tryLock() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		return false
	}
	t.taken = true
	return true
}

// unlock hands the lock to the goroutine that has waited longest.
func (t *fifoMutex) unlock() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	if t.waiting = t.waiting[1:]; len(t.waiting) == 0 {
		t.waiting = nil // release the array
	}
}
