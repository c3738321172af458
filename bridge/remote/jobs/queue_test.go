package jobs

import "testing"

// Who waits to read a note that was never fetched gets it first, however many wait
// for their first turn; a note is in the queue once.
func TestReaderFirst(t *testing.T) {
	q := NewQueue[*int]()
	jobs := make([]*int, 100)
	for i := range jobs {
		jobs[i] = new(int)
		q.Add(jobs[i], New)
	}
	q.Add(jobs[99], Reader)
	q.Add(jobs[50], Unsent)
	q.Resume()
	for i, want := range []*int{jobs[99], jobs[50], jobs[0], jobs[1]} {
		got, _, _ := q.Next()
		if got != want {
			t.Errorf("turn %d goes to another", i)
		}
		q.Done(got)
	}
	q.Add(jobs[2], New)
	if n := len(q.waiting.priority); n != 96 {
		t.Errorf("%d documents wait, want 96", n)
	}
}
