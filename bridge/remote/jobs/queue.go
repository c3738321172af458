// Package jobs is a queue by priority for a few workers. It does not know what the work
// is, and has no workers of its own.
//
// # Concurrency
//
// Everything may be called from several goroutines. The queue's lock is a leaf.
package jobs

import (
	"container/heap"
	"sync"
)

// Priority orders the jobs that wait for a worker, the most urgent first.
type Priority uint8

const (
	Reader  Priority = iota // somebody waits to read it
	Unsent                  // it has changes that the server lacks
	Changed                 // the server has changes
	New                     // it was never fetched
	Known                   // it is to be compared
)

// Queue holds each job at most once. It is paused when it is new.
type Queue[T comparable] struct {
	mu     sync.Mutex // protects the following
	ready  *sync.Cond // something is to be done
	queue  jobHeap[T]
	at     map[T]*job[T]
	taken  map[T]bool // by a worker; true if it is to have another turn
	order  uint64
	paused bool
	closed bool
}

type job[T comparable] struct {
	what  T
	prio  Priority
	order uint64 // of arrival
	index int
}

// NewQueue makes an empty queue.
func NewQueue[T comparable]() *Queue[T] {
	q := &Queue[T]{at: make(map[T]*job[T]), taken: make(map[T]bool), paused: true}
	q.ready = sync.NewCond(&q.mu)
	return q
}

// Add queues a job, or makes it more urgent. One that has its turn just now gets
// another, as a changed one.
func (q *Queue[T]) Add(d T, p Priority) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, busy := q.taken[d]; busy {
		q.taken[d] = true
		return
	}
	q.push(d, p)
}

// push is Add for a job that no worker has. mu is held.
func (q *Queue[T]) push(d T, p Priority) {
	if j := q.at[d]; j != nil {
		if p < j.prio {
			j.prio = p
			heap.Fix(&q.queue, j.index)
		}
		return
	}
	q.order++
	j := &job[T]{what: d, prio: p, order: q.order}
	q.at[d] = j
	heap.Push(&q.queue, j)
	q.ready.Signal()
}

// Next takes the most urgent job; ok is false once the queue is closed.
func (q *Queue[T]) Next() (d T, p Priority, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.paused || len(q.queue) == 0) {
		q.ready.Wait()
	}
	if q.closed {
		return d, 0, false
	}
	j := heap.Pop(&q.queue).(*job[T])
	delete(q.at, j.what)
	q.taken[j.what] = false
	return j.what, j.prio, true
}

// Done ends the turn of a job.
func (q *Queue[T]) Done(d T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again := q.taken[d]
	delete(q.taken, d)
	if again {
		q.push(d, Changed)
	}
}

// Pause lets no job be taken until Resume.
func (q *Queue[T]) Pause() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = true
}

// Resume lets jobs be taken.
func (q *Queue[T]) Resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = false
	q.ready.Broadcast()
}

// Close ends the queue: Next has nothing any more.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Broadcast()
}

// jobHeap is a heap.Interface.
type jobHeap[T comparable] []*job[T]

func (h jobHeap[T]) Len() int { return len(h) }

func (h jobHeap[T]) Less(i, j int) bool {
	if h[i].prio != h[j].prio {
		return h[i].prio < h[j].prio
	}
	return h[i].order < h[j].order
}

func (h jobHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *jobHeap[T]) Push(x any) {
	j := x.(*job[T])
	j.index = len(*h)
	*h = append(*h, j)
}

func (h *jobHeap[T]) Pop() any {
	old := *h
	j := old[len(old)-1]
	*h = old[:len(old)-1]
	return j
}
