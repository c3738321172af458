// Package jobs is a queue by priority for a few workers. It does not know what the work
// is, and has no workers itself.
//
// # Concurrency
//
// Everything is safe for concurrent use. The queue's lock is a leaf.
package jobs

import "sync"

// Priority orders the jobs, the most urgent first.
type Priority uint8

const (
	Reader  Priority = iota // a reader waits for it
	Unsent                  // it has changes that the server lacks
	Changed                 // the server has changes
	New                     // it was never fetched
	Known                   // it is to be compared
	priorities
)

// Queue holds each job at most once. A new queue is paused.
type Queue[T comparable] struct {
	mu      sync.Mutex // protects the following
	ready   *sync.Cond // signals that Next may return
	waiting waiting[T]
	taken   map[T]bool // jobs of workers; true for another turn
	paused  bool
	closed  bool
}

// waiting is the jobs without a worker. A job whose priority has risen is in two lists, and
// the entry that does not match its priority is void.
type waiting[T comparable] struct {
	priority map[T]Priority
	lists    [priorities][]T // in the order of arrival
}

// NewQueue returns an empty queue.
func NewQueue[T comparable]() *Queue[T] {
	q := &Queue[T]{waiting: waiting[T]{priority: make(map[T]Priority)}, taken: make(map[T]bool), paused: true}
	q.ready = sync.NewCond(&q.mu)
	return q
}

// Add queues a job, or raises its priority. A job of a worker gets another turn, with the
// priority Changed.
func (q *Queue[T]) Add(job T, p Priority) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, busy := q.taken[job]; busy {
		q.taken[job] = true
		return
	}
	q.waiting.add(job, p)
	q.ready.Signal()
}

func (w *waiting[T]) add(job T, p Priority) {
	if have, ok := w.priority[job]; ok && have <= p {
		return
	}
	w.priority[job] = p
	w.lists[p] = append(w.lists[p], job)
}

func (w *waiting[T]) next() (job T, p Priority) {
	for p := range w.lists {
		for len(w.lists[p]) > 0 {
			job, w.lists[p] = w.lists[p][0], w.lists[p][1:]
			if have, ok := w.priority[job]; ok && have == Priority(p) {
				delete(w.priority, job)
				return job, have
			}
		}
	}
	panic("jobs: next of an empty queue")
}

// Next takes the most urgent job; ok is false once the queue is closed.
func (q *Queue[T]) Next() (job T, p Priority, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.paused || len(q.waiting.priority) == 0) {
		q.ready.Wait()
	}
	if q.closed {
		return job, 0, false
	}
	job, p = q.waiting.next()
	q.taken[job] = false
	return job, p, true
}

// Done ends the turn of a job.
func (q *Queue[T]) Done(job T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again := q.taken[job]
	delete(q.taken, job)
	if again {
		q.waiting.add(job, Changed)
		q.ready.Signal()
	}
}

// Pause makes Next wait until Resume.
func (q *Queue[T]) Pause() { q.set(func() { q.paused = true }) }

// Resume ends a pause.
func (q *Queue[T]) Resume() { q.set(func() { q.paused = false }) }

// Close ends the queue and every call of Next.
func (q *Queue[T]) Close() { q.set(func() { q.closed = true }) }

func (q *Queue[T]) set(fn func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	fn()
	q.ready.Broadcast()
}
