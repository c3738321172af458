package schedule

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Who waits to read a note that was never fetched gets it first, however many wait
// for their first turn; a note is in the queue once.
func TestReaderFirst(t *testing.T) {
	q := newQueue()
	docs := make([]*replica.Document, 100)
	for i := range docs {
		docs[i] = new(replica.Document)
		q.add(docs[i], prioNew)
	}
	q.add(docs[99], prioReader)
	q.add(docs[50], prioUnsent)
	for i, want := range []*replica.Document{docs[99], docs[50], docs[0], docs[1]} {
		got, _, _ := q.next()
		if got != want {
			t.Errorf("turn %d goes to another", i)
		}
		q.done(got)
	}
	q.add(docs[2], prioNew)
	if n := len(q.waiting); n != 96 {
		t.Errorf("%d documents wait, want 96", n)
	}
}
