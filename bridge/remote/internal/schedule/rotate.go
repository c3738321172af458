package schedule

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Every note of a folder whose server reports changes is compared within rotateResyncs times
// Resync, which is ten minutes unless a test shortens it, or within a fortieth of Resync, half a
// second, for each note if that is longer. docs/servers.md has these numbers.
const (
	rotateResyncs = 30
	rotateNotes   = 40
)

const (
	// openedPause is the part of Resync after which a note that somebody opens is compared again.
	openedPause = 4
	// maxOpened is how many notes may wait for a turn when one is opened: a search opens all, and
	// would have the server load all.
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
			y.want(d, forKnown)
		}
	}
}

// stalest returns the note that was compared, or queued to be compared, longest ago, of those
// that are not connected; nil if there is none, or poll queues all of them.
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

// Opened has a note compared in the background that somebody opens, unless it is connected, was
// compared a moment ago, or is one of very many.
func (y *Scheduler) Opened(d *replica.Document) {
	d.Ask()
	y.mu.Lock()
	compare := y.online && y.kept[d.ID()] && y.queue.length() < maxOpened
	y.mu.Unlock()
	if compare && time.Since(d.Compared()) > y.set.Resync/openedPause {
		y.want(d, forOpened)
	}
}
