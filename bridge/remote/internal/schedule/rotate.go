package schedule

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// If the server reports changes, every note of a folder is compared within rotateResyncs times Resync (ten minutes
// except in tests), or within Resync/rotateNotes (half a second) per note if that is longer. docs/servers.md has
// these numbers.
const (
	rotateResyncs = 30
	rotateNotes   = 40
)

const (
	// openedPause is the divisor of Resync that gives the minimum age of a comparison before an opened note is
	// compared again.
	openedPause = 4
	// maxOpened bounds the queued notes when one is opened: a search opens all notes, and the server would have to
	// load them all.
	maxOpened = 4 * Workers
)

// rotate queues the note that was compared longest ago, one after the other, until ctx ends.
func (y *Scheduler) rotate(ctx context.Context) {
	for {
		y.mu.Lock()
		n := max(len(y.notes), rotateResyncs)
		y.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(y.set.Resync/rotateNotes, rotateResyncs*y.set.Resync/time.Duration(n))):
		}
		if d := y.stalest(); d != nil {
			y.enqueueIfOffline(d, prioKnown)
		}
	}
}

// stalest returns the unconnected note that was compared, or queued for a comparison, longest ago; nil if there is
// none, or if poll queues all of them.
func (y *Scheduler) stalest() (stalest *replica.Document) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !y.online || y.follows == nil {
		return nil
	}
	var at time.Time
	for _, id := range y.notes {
		d := y.set.Document(id)
		if _, live := y.live[d]; live {
			continue
		}
		last := d.Compared()
		if queued := y.rotated[d]; queued.After(last) {
			last = queued // its turn may have failed
		}
		if stalest == nil || last.Before(at) {
			stalest, at = d, last
		}
	}
	if stalest != nil {
		y.rotated[stalest] = time.Now()
	}
	return stalest
}

// Opened queues a comparison of a note that a client opens, unless the note is connected or was just compared, or the
// queue is long.
func (y *Scheduler) Opened(d *replica.Document) {
	d.Ask()
	y.mu.Lock()
	compare := y.online && y.fetched[d.ID()] && y.queue.length() < maxOpened
	y.mu.Unlock()
	if compare && time.Since(d.Compared()) > y.set.Resync/openedPause {
		y.enqueueIfOffline(d, prioOpened)
	}
}
