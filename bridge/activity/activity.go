// Package activity has the operations that a workspace is carrying out, and the events
// that it publishes about them.
package activity

import (
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// Activity admits operations until it is closed and calls every subscriber with every
// event. The zero Activity is ready.
type Activity struct {
	closing  sync.RWMutex // held for writing while closed is set
	closed   bool
	inflight sync.WaitGroup

	mu    sync.Mutex // protects the following
	ahead []func(model.Event)
	subs  map[*func(model.Event)]struct{}
}

// Begin announces an operation that changes something; Done ends it. The error is
// model.ErrClosed.
func (a *Activity) Begin() error {
	a.closing.RLock()
	defer a.closing.RUnlock()
	if a.closed {
		return model.ErrClosed
	}
	a.inflight.Add(1)
	return nil
}

// Done ends an operation that Begin admitted.
func (a *Activity) Done() { a.inflight.Done() }

// Close admits no more operations and waits for those that have begun.
func (a *Activity) Close() {
	a.closing.Lock()
	a.closed = true
	a.closing.Unlock()
	a.inflight.Wait()
}

// Subscribe calls fn with each event until cancel is called. fn runs on the goroutine
// that publishes.
func (a *Activity) Subscribe(fn func(model.Event)) (cancel func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subs == nil {
		a.subs = make(map[*func(model.Event)]struct{})
	}
	a.subs[&fn] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.subs, &fn)
	}
}

// Precede calls fn with each event before every subscriber: so an index that a subscriber asks knows of the event.
func (a *Activity) Precede(fn func(model.Event)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ahead = append(slices.Clone(a.ahead), fn)
}

// Publish calls the subscribers with each event. The caller holds no lock of the
// workspace.
func (a *Activity) Publish(events ...model.Event) {
	for _, ev := range events {
		a.mu.Lock()
		ahead, subs := a.ahead, slices.Collect(maps.Keys(a.subs))
		a.mu.Unlock()
		for _, fn := range ahead {
			fn(ev)
		}
		for _, fn := range subs {
			(*fn)(ev)
		}
	}
}
