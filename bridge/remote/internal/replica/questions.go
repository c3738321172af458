package replica

import (
	"sync"
	"time"
)

// openQueries has the peers that wait for an answer from the server.
type openQueries struct {
	mu    sync.Mutex // guards the field below
	asked map[*Peer]time.Time
}

// set records the time of a peer's oldest unanswered request. A zero time means that there is none.
func (q *openQueries) set(p *Peer, at time.Time) {
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

// oldest returns the earliest time since which a waiting peer has received nothing from the server, or zero if no peer
// waits.
func (q *openQueries) oldest() (oldest time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p, at := range q.asked {
		if at = p.silentSince(at); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest
}
