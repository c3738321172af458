package ycrdt

import (
	"slices"
	"sync"
)

// An eventQueue runs callbacks in the order of commits, one at a time.
type eventQueue struct {
	mu         sync.Mutex
	calls      []func()          // protected by mu
	delivering bool              // protected by mu
	listeners  []*updateListener // protected by mu
}

type updateListener struct {
	fn func(update []byte, origin any)
}

// OnUpdate calls fn after every transaction that changed the document, until cancel is called. update has the change in
// format V1; fn must not modify the slice.
//
// Listeners run after the commit with no lock held, one at a time and in the order of the commits, and may use the
// document freely. They run on the goroutine of the Transact or ApplyUpdate that caused them, before it returns. If
// listeners are running already, their goroutine runs the new calls after the current ones.
func (d *Doc) OnUpdate(fn func(update []byte, origin any)) (cancel func()) {
	l := &updateListener{fn}
	q := &d.events
	q.mu.Lock()
	defer q.mu.Unlock()
	q.listeners = append(q.listeners, l)
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.listeners = slices.DeleteFunc(slices.Clone(q.listeners), func(other *updateListener) bool { return other == l })
	}
}

func (q *eventQueue) hasListeners() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.listeners) > 0
}

func (q *eventQueue) queue(update []byte, origin any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.listeners {
		q.calls = append(q.calls, func() { l.fn(update, origin) })
	}
}

func (q *eventQueue) deliver() {
	q.mu.Lock()
	if q.delivering {
		q.mu.Unlock()
		return
	}
	q.delivering = true
	defer func() {
		q.delivering = false
		q.mu.Unlock()
	}()
	for len(q.calls) > 0 {
		call := q.calls[0]
		q.calls = q.calls[1:]
		q.run(call)
	}
}

// run calls fn without the lock. A panic of fn leaves the queue usable.
func (q *eventQueue) run(fn func()) {
	q.mu.Unlock()
	defer q.mu.Lock()
	fn()
}
