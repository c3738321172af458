package schedule

import (
	"math/rand/v2"
	"time"
)

const (
	backoffBase   = 300 * time.Millisecond
	backoffCap    = 30 * time.Second
	backoffStable = 30 * time.Second // a connection that lasted this long was a good one
)

// backoff says how long to wait before the next attempt: a random part of a time
// that doubles, so that clients which lost a server together do not come back
// together.
type backoff struct{ failures int }

// next is the wait after an attempt that lasted for so long.
func (b *backoff) next(lasted time.Duration) time.Duration {
	if lasted >= backoffStable {
		b.failures = 0
	}
	limit := min(backoffCap, backoffBase<<min(b.failures, 10))
	b.failures++
	return rand.N(limit) + 1
}
