// Package unsent knows what the server has not acknowledged: for each document the last
// record that it lacks. It sends nothing, and knows no connection.
//
// # Concurrency
//
// Everything may be called from several goroutines. The lock is a leaf; it is not held
// across the store.
package unsent

import (
	"context"
	"maps"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// Store keeps what was not acknowledged beyond the process.
type Store interface {
	// Unsent returns the documents with records that were appended as Unsent, each
	// with the number of the last one, but for those that Sent has crossed out.
	Unsent() (map[model.DocID]uint64, error)
	Sent(id model.DocID, seq uint64) error
}

// Log has the documents with records that the server lacks.
type Log struct {
	store Store

	mu      sync.Mutex // protects the following
	pending map[model.DocID]uint64
	sent    map[model.DocID]uint64 // acknowledged, to be crossed out in the store
	wake    chan struct{}          // holds a token when sent has something
	changed chan struct{}          // closed when pending shrinks, and made anew
}

// Open reads what the store knows.
func Open(store Store) (*Log, error) {
	pending, err := store.Unsent()
	if err != nil {
		return nil, err
	}
	return &Log{
		store: store, pending: pending, sent: make(map[model.DocID]uint64),
		wake: make(chan struct{}, 1), changed: make(chan struct{}),
	}, nil
}

// Pending is the number of the last record that the server lacks, for each document.
func (l *Log) Pending() map[model.DocID]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.pending)
}

// Len is how many documents the server lacks something of.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending)
}

// Has says that the server lacks something of a document.
func (l *Log) Has(id model.DocID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[id] > 0
}

// Add says that the server lacks the record seq of a document.
func (l *Log) Add(id model.DocID, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending[id] = max(l.pending[id], seq)
}

// Acknowledge says that the server has everything of a document up to seq; all says
// whether it lacks nothing then.
func (l *Log) Acknowledge(id model.DocID, seq uint64) (all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, was := l.pending[id]
	all = !was || last <= seq
	if all {
		delete(l.pending, id)
		l.tell()
	}
	if was {
		l.sent[id] = max(l.sent[id], seq)
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return all
}

// Changed is closed when the server lacks less than before, or by Tell.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Tell wakes who waits for Changed: there is a reason to wait no longer.
func (l *Log) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
}

func (l *Log) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Run writes down what was acknowledged, until ctx ends. What a crash loses of it is
// sent again, which changes nothing. failed is told of errors.
func (l *Log) Run(ctx context.Context, failed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.mu.Lock()
		sent := l.sent
		l.sent = make(map[model.DocID]uint64)
		l.mu.Unlock()
		for id, seq := range sent {
			if err := l.store.Sent(id, seq); err != nil {
				failed(err)
			}
		}
	}
}
