package schedule

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// If the server reports changes, every note of a folder is still compared within rotateResyncs times Resync (ten
// minutes except in tests), or Resync/rotateNotes (half a second) for each note if that is longer. docs/servers.md has
// these numbers.
const (
	rotateResyncs = 30
	rotateNotes   = 40
)

const (
	// A note that a client opens is compared again only if its last comparison is older than Resync/openedPause.
	openedPause = 4
	// If the queue has maxOpened or more documents, opening a note does not queue the note. A search opens all notes,
	// and the server would have to load them all.
	maxOpened = 4 * Workers
)

// rotate queues one note after the other, each time the note that was compared longest ago, until ctx ends.
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

// stalest returns the unconnected note that was compared, or queued by rotate, longest ago, and records that rotate
// queues it now. It returns nil if there is none, if the server is offline, or if poll queues all notes.
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
			last = queued // the turn that was queued then may have failed
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

// Opened records that a client opens a note, and queues a comparison of the note. It queues nothing if the note is
// connected, was never fetched or was just compared, if the server is offline, or if the queue is long.
func (y *Scheduler) Opened(d *replica.Document) {
	d.Ask()
	y.mu.Lock()
	compare := y.online && y.fetched[d.ID()] && y.queue.length() < maxOpened
	y.mu.Unlock()
	if compare && time.Since(d.Compared()) > y.set.Resync/openedPause {
		y.enqueueIfOffline(d, prioOpened)
	}
}
