package reviewqueue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// minChangeGap is the least time between two changes, so that a burst of changes is one.
	minChangeGap = 100 * time.Millisecond
	// heartbeat is how long a stream is silent at most.
	heartbeat = 15 * time.Second
)

// Follow tells where something has changed since the state that was seen, at once, and then what changes, until ctx ends
// or tell returns an error. A change without paths is a sign of life. A client that has seen nothing says 0.
// It tells of the next change when the client has taken the last one: a slow client gets the sum of what it missed.
func (q *Queue) Follow(ctx context.Context, seen uint64, tell func(Change) error) error {
	for {
		c := q.since(seen)
		err := tell(c)
		if err == nil {
			err = q.wait(ctx, c.Now)
		}
		if err != nil {
			return err
		}
		seen = c.Now
	}
}

// since returns where something has changed since a state.
func (q *Queue) since(seen uint64) Change {
	list, now, whole := q.ws.Since(seen)
	if !whole {
		return Change{now, []string{""}}
	}
	paths := make(map[string]bool)
	for _, ev := range list {
		paths[string(ev.Path)] = true
		if ev.Kind == model.EventRenamed {
			paths[string(ev.OldPath)] = true
		}
	}
	return Change{now, append([]string{}, slices.Sorted(maps.Keys(paths))...)}
}

// wait returns after the next change since a state, or when a sign of life is due.
func (q *Queue) wait(ctx context.Context, seen uint64) error {
	select {
	case <-time.After(minChangeGap):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-q.ws.Changed(seen):
		return nil
	case <-time.After(heartbeat):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
