package model

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// kept is how many changes the log remembers at least.
const kept = 10_000

// Bus admits operations until it is closed, and numbers and logs the changes that they
// publish. The zero Activity is ready.
type Bus struct {
	closing  sync.RWMutex // held for writing while closed is set
	closed   bool
	inflight sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	subs map[*func(Event)]struct{}
	// first is the number of the change before the oldest in the list, once there is a number.
	first uint64
	list  []Event
	next  chan struct{} // closed by the next change; nil if nobody waits
}

// BeginOp announces an operation that changes something; Done ends it. The error is
// model.ErrClosed.
func (a *Bus) BeginOp() error {
	a.closing.RLock()
	defer a.closing.RUnlock()
	if a.closed {
		return ErrClosed
	}
	a.inflight.Add(1)
	return nil
}

// EndOp ends an operation that Begin admitted.
func (a *Bus) EndOp() { a.inflight.Done() }

// Close admits no more operations and waits for those that have begun.
func (a *Bus) Close() {
	a.closing.Lock()
	a.closed = true
	a.closing.Unlock()
	a.inflight.Wait()
}

// Publish logs each change, and then calls the subscribers. The caller holds no lock of the
// workspace. The log keeps neither versions nor origins.
func (a *Bus) Publish(events ...Event) {
	for _, ev := range events {
		a.mu.Lock()
		a.append(ev)
		subs := slices.Collect(maps.Keys(a.subs))
		a.mu.Unlock()
		for _, fn := range subs {
			(*fn)(ev)
		}
	}
}

// append logs ev. Call it with a.mu locked.
func (a *Bus) append(ev Event) {
	a.last() // there is a number from here on
	ev.Version, ev.Origin = nil, nil
	if len(a.list) == 2*kept {
		a.first += kept
		a.list = slices.Clone(a.list[kept:])
	}
	a.list = append(a.list, ev)
	if a.next != nil {
		close(a.next)
		a.next = nil
	}
}

// last is the number of the newest change. Call it with a.mu locked. The first number is the time, which
// the log of an earlier process has not reached: so a number of that one is known to be another log's.
func (a *Bus) last() uint64 {
	if a.first == 0 {
		a.first = uint64(time.Now().UnixMicro())
	}
	return a.first + uint64(len(a.list))
}

// Last returns the number of the newest change.
func (a *Bus) Last() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last()
}

// Since returns the changes after the one with that number, and the number of the newest. whole is false if
// the log does not have all of them: it forgot some, or the number is not one of its own.
func (a *Bus) Since(number uint64) (list []Event, last uint64, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last = a.last()
	if number < a.first || number > last {
		return slices.Clone(a.list), last, false
	}
	return slices.Clone(a.list[number-a.first:]), last, true
}

// Changed returns a channel that is closed when there is a change after the one with that number.
func (a *Bus) Changed(number uint64) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last() != number {
		done := make(chan struct{})
		close(done)
		return done
	}
	if a.next == nil {
		a.next = make(chan struct{})
	}
	return a.next
}

// Subscribe calls fn with each change, after it was logged, until cancel is called. fn runs on the goroutine
// that publishes.
func (a *Bus) Subscribe(fn func(Event)) (cancel func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subs == nil {
		a.subs = make(map[*func(Event)]struct{})
	}
	a.subs[&fn] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.subs, &fn)
	}
}
