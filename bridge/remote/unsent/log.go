// Package unsent records what the server has not acknowledged: for each document the last
// record that it lacks. It sends nothing.
//
// # Concurrency
//
// Everything is safe for concurrent use. The lock is a leaf, and not held across the store.
package unsent

import (
	"context"
	"maps"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/wake"
)

// Store remembers unacknowledged records beyond the process.
type Store interface {
	// Unsent returns the documents with unacknowledged records, each with the number of
	// the last one.
	Unsent() (map[model.DocID]uint64, error)
	// Sent records that the server has everything of a document up to seq.
	Sent(id model.DocID, seq uint64) error
}

// Log is the documents with records that the server lacks.
type Log struct {
	store Store

	mu      sync.Mutex // protects the following
	pending map[model.DocID]uint64
	sent    map[model.DocID]uint64 // acknowledged, but not in the store yet
	wake    wake.Signal            // sent has something
}

// Open reads the log from the store.
func Open(store Store) (*Log, error) {
	pending, err := store.Unsent()
	if err != nil {
		return nil, err
	}
	return &Log{store: store, pending: pending, sent: make(map[model.DocID]uint64), wake: wake.New()}, nil
}

// Pending returns the number of the last record that the server lacks of each document.
func (l *Log) Pending() map[model.DocID]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.pending)
}

// Len returns the number of documents of which the server lacks something.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending)
}

// Has reports whether the server lacks something of a document.
func (l *Log) Has(id model.DocID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[id] > 0
}

// Add records that the server lacks the record seq of a document.
func (l *Log) Add(id model.DocID, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending[id] = max(l.pending[id], seq)
}

// Acknowledge records that the server has everything of a document up to seq; all is set
// if that is everything.
func (l *Log) Acknowledge(id model.DocID, seq uint64) (all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, was := l.pending[id]
	all = !was || last <= seq
	if all {
		delete(l.pending, id)
	}
	if was {
		l.sent[id] = max(l.sent[id], seq)
		l.wake.Set()
	}
	return all
}

// Run stores acknowledgements until ctx ends; failed is called with errors. What a crash
// loses is sent again, which changes nothing.
func (l *Log) Run(ctx context.Context, failed func(error)) {
	for range l.wake.Until(ctx) {
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
