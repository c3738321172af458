package reviewqueue

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	minChangeGap = 100 * time.Millisecond // changes within this time are reported together
	heartbeat    = 15 * time.Second       // maximum time without a call of notify
)

// Follow calls notify with the changes since the state seen (0 for a new client), and then with each later change,
// until ctx ends or notify returns an error. A change without paths is a heartbeat. Several changes reach a slow client
// as one.
func (q *Queue) Follow(ctx context.Context, seen uint64, notify func(Change) error) error {
	changed := model.NewSignal()
	defer q.ws.Subscribe(func(model.Event) { changed.Set() })()
	for {
		c := q.since(seen)
		err := notify(c)
		if err == nil {
			err = wait(ctx, changed)
		}
		if err != nil {
			return err
		}
		seen = c.Now
	}
}

func (q *Queue) since(seen uint64) Change {
	list, now, complete := q.ws.Since(seen)
	if !complete {
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

// wait returns when there is a change, or when a heartbeat is due.
func wait(ctx context.Context, changed model.Signal) error {
	select {
	case <-time.After(minChangeGap):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-changed:
		return nil
	case <-time.After(heartbeat):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
