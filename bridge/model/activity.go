package model

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// maxChanges is the number of newest changes that remain when the log drops old changes. The log drops them at twice
// that number.
const maxChanges = 10_000

// Bus admits operations until it is closed, and numbers and logs the changes that they publish. The zero Bus is ready.
type Bus struct {
	closing  sync.RWMutex // held for writing while closed is being set
	closed   bool
	inflight sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	subs map[*func(Event)]struct{}
	// first is the number of the change before the oldest change in list. It is 0 before the first use.
	first uint64
	list  []Event
}

// BeginOp admits an operation that changes something, or returns ErrClosed. Call EndOp when it is done.
func (a *Bus) BeginOp() error {
	a.closing.RLock()
	defer a.closing.RUnlock()
	if a.closed {
		return ErrClosed
	}
	a.inflight.Add(1)
	return nil
}

func (a *Bus) EndOp() { a.inflight.Done() }

// Close stops admitting operations and waits for the operations in progress.
func (a *Bus) Close() {
	a.closing.Lock()
	a.closed = true
	a.closing.Unlock()
	a.inflight.Wait()
}

// Publish logs each change, without its Version and Origin, and then calls the subscribers. The caller must not hold a
// lock of a note or of names.
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

// append logs ev. The caller must hold a.mu.
func (a *Bus) append(ev Event) {
	a.last() // assigns the first number
	ev.Version, ev.Origin = nil, nil
	if len(a.list) == 2*maxChanges {
		a.first += maxChanges
		a.list = slices.Clone(a.list[maxChanges:])
	}
	a.list = append(a.list, ev)
}

// last returns the number of the newest change. Call it with a.mu locked. The first number is random, so that numbers
// of another process are recognised as foreign. JavaScript can represent the numbers exactly.
func (a *Bus) last() uint64 {
	if a.first == 0 {
		a.first = 1<<40 + rand.Uint64N(1<<52)
	}
	return a.first + uint64(len(a.list))
}

func (a *Bus) Last() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last()
}

// Since returns the changes after a number, and the number of the newest change. whole is false if the log does not
// have all of these changes, because some were dropped or the number is from another process. In that case Since
// returns all changes in the log.
func (a *Bus) Since(number uint64) (list []Event, last uint64, whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last = a.last()
	if number < a.first || number > last {
		return slices.Clone(a.list), last, false
	}
	return slices.Clone(a.list[number-a.first:]), last, true
}

// Subscribe calls fn with each change on the goroutine that publishes it, until cancel is called.
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
