package remote

import (
	"container/heap"
	"sync"
)

// priority orders the documents that wait for a worker, the most urgent first.
type priority uint8

const (
	prioReader priority = iota // somebody waits to read it
	prioUnsent                 // it has changes that the server lacks
	prioChange                 // the server has changes
	prioNew                    // it was never fetched
	prioKnown                  // it is to be compared
)

// jobs is a queue of documents by priority, each in it at most once.
type jobs struct {
	mu     sync.Mutex // protects the following
	ready  *sync.Cond // something is to be done
	queue  jobHeap
	at     map[*document]*job
	taken  map[*document]bool // by a worker; true if it is to have another turn
	order  uint64
	paused bool
	closed bool
}

type job struct {
	d     *document
	prio  priority
	order uint64 // of arrival
	index int
}

func newJobs() jobs {
	return jobs{at: make(map[*document]*job), taken: make(map[*document]bool), paused: true}
}

// add queues a document, or makes it more urgent. One that has its turn just now
// gets another, as a changed one.
func (q *jobs) add(d *document, p priority) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, busy := q.taken[d]; busy {
		q.taken[d] = true
		return
	}
	q.push(d, p)
}

// push is add for a document that no worker has. mu is held.
func (q *jobs) push(d *document, p priority) {
	if j := q.at[d]; j != nil {
		if p < j.prio {
			j.prio = p
			heap.Fix(&q.queue, j.index)
		}
		return
	}
	q.order++
	j := &job{d: d, prio: p, order: q.order}
	q.at[d] = j
	heap.Push(&q.queue, j)
	q.cond().Signal()
}

// cond is the condition for which next waits. mu is held.
func (q *jobs) cond() *sync.Cond {
	if q.ready == nil {
		q.ready = sync.NewCond(&q.mu)
	}
	return q.ready
}

// next takes the most urgent document; nil once the queue is closed.
func (q *jobs) next() (*document, priority) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && (q.paused || len(q.queue) == 0) {
		q.cond().Wait()
	}
	if q.closed {
		return nil, 0
	}
	j := heap.Pop(&q.queue).(*job)
	delete(q.at, j.d)
	q.taken[j.d] = false
	return j.d, j.prio
}

// done ends the turn of a document.
func (q *jobs) done(d *document) {
	q.mu.Lock()
	defer q.mu.Unlock()
	again := q.taken[d]
	delete(q.taken, d)
	if again {
		q.push(d, prioChange)
	}
}

func (q *jobs) pause() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = true
}

func (q *jobs) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = false
	q.cond().Broadcast()
}

func (q *jobs) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.cond().Broadcast()
}

// jobHeap is a heap.Interface.
type jobHeap []*job

func (h jobHeap) Len() int { return len(h) }

func (h jobHeap) Less(i, j int) bool {
	if h[i].prio != h[j].prio {
		return h[i].prio < h[j].prio
	}
	return h[i].order < h[j].order
}

func (h jobHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *jobHeap) Push(x any) {
	j := x.(*job)
	j.index = len(*h)
	*h = append(*h, j)
}

func (h *jobHeap) Pop() any {
	old := *h
	j := old[len(old)-1]
	*h = old[:len(old)-1]
	return j
}
