package schedule

import "github.com/relayfs/relayfs/bridge/remote/internal/replica"

// priority orders the documents that wait for a turn. The most urgent priority is the first.
type priority uint8

const (
	prioReader  priority = iota // a reader waits for the document
	prioUnsent                  // the document has changes that the server lacks
	prioOpened                  // a client has opened the document, and the copy here may be old
	prioChanged                 // the server has changes of the document
	prioNew                     // the document was never fetched
	prioKnown                   // the document is due for a comparison
	prioCount
)

// queue has the documents that wait for a turn. If the priority of a document has risen, the document is in several
// lists; only the entry with the priority recorded in waiting counts. The caller of its methods holds the scheduler's
// lock.
type queue struct {
	waiting map[*replica.Document]priority
	lists   [prioCount][]*replica.Document // one list for each priority, in order of arrival
	taken   map[*replica.Document]bool     // documents that workers are processing; true requests another turn
}

func newQueue() queue {
	return queue{waiting: make(map[*replica.Document]priority), taken: make(map[*replica.Document]bool)}
}

// add queues a document, or raises its priority. A document that a worker is processing is queued again after its turn,
// with the priority prioChanged.
func (q *queue) add(d *replica.Document, p priority) {
	if _, busy := q.taken[d]; busy {
		q.taken[d] = true
		return
	}
	if have, ok := q.waiting[d]; !ok || have > p {
		q.waiting[d] = p
		q.lists[p] = append(q.lists[p], d)
	}
}

func (q *queue) length() int { return len(q.waiting) }

// next removes and returns the most urgent document. ok is false if the queue is empty.
func (q *queue) next() (d *replica.Document, p priority, ok bool) {
	for p := range prioCount {
		for len(q.lists[p]) > 0 {
			d, q.lists[p] = q.lists[p][0], q.lists[p][1:]
			if have, ok := q.waiting[d]; ok && have == p {
				delete(q.waiting, d)
				q.taken[d] = false
				return d, p, true
			}
		}
	}
	return nil, 0, false
}

func (q *queue) done(d *replica.Document) {
	again := q.taken[d]
	delete(q.taken, d)
	if again {
		q.add(d, prioChanged)
	}
}
