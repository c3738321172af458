package replica

import (
	"sync"
	"time"
)

// questions is when each peer asked what the server has not answered.
type questions struct {
	mu    sync.Mutex // protects the following
	asked map[*Peer]time.Time
}

// ask records when a peer asked; the zero time, that it has its answer.
func (q *questions) ask(p *Peer, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at.IsZero() {
		delete(q.asked, p)
		return
	}
	if q.asked == nil {
		q.asked = make(map[*Peer]time.Time)
	}
	q.asked[p] = at
}

// oldest returns since when a peer that waits for an answer has heard nothing, of all peers the
// one that waits longest; zero if none waits.
func (q *questions) oldest() (oldest time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p, at := range q.asked {
		if at = p.silentSince(at); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}
