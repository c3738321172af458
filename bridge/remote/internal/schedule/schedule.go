// Package schedule decides when each document of a folder is connected. It keeps the folder's document connected, and
// connects the notes in turn.
//
// At most sixteen notes have a turn at a time. Notes get turns in this order: notes that a reader waits for, notes with
// changes to send, notes that a client opens, notes that have changed on the server, notes that were never fetched, and
// all other notes, for a comparison. If the server allows enough links for all notes, each note stays connected after
// its turn. Otherwise a note stays connected only if a reader waits for it, it has changes to send, or a client has
// opened it. If no link is free, the note takes the link of the least recently used note.
//
// relay-server reports which notes have changed, so that unchanged notes need no turns. But neither its events nor its
// index of snapshots reports changes of a note that was loaded for a token without a channel (token.Claims).
// So the notes that were compared longest ago get turns as well, one after the other.
//
// The package does not handle names of files. SetNotes gives it the IDs of the notes; Callbacks.Named finds the note
// that a report names.
//
// Everything is safe for concurrent use. Lock order: documents and the listing, the scheduler, the reports. No lock is
// held during network or store I/O.
package schedule

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Workers is the number of concurrent turns.
const Workers = 16

// Store records which documents were fetched, and which changes the server has not acknowledged.
type Store interface {
	DocIDs() ([]model.DocID, error)
	// Unsent returns the number of the last unacknowledged record of each document.
	Unsent() (map[model.DocID]uint64, error)
	// Sent records that the server has all changes of a document up to the record seq.
	Sent(id model.DocID, seq uint64) error
}

// Callbacks receives calls about the folder. No lock is held during a call.
type Callbacks interface {
	// Retry is called when the folder's document is synchronized, and when failed requests may be repeated.
	Retry()
	// Uploaded is called when the server has all changes of a document other than the folder's.
	Uploaded(d *replica.Document)
	// Named returns the note with the given document name on the server, or nil if there is none.
	Named(name string) *replica.Document
}

type Scheduler struct {
	set       *replica.Set
	store     Store
	progress  func(Progress) // see New
	callbacks Callbacks
	ctx       context.Context
	peers     sync.WaitGroup // waits for the peers of notes; only workers add to it

	mu        sync.Mutex    // guards the fields below
	changed   chan struct{} // closed and replaced when wait must check its condition again
	queue     queue         // documents waiting for a turn
	online    bool          // whether the folder is connected, so that workers take turns from the queue
	attempted bool          // whether the first attempt to connect is over
	synced    time.Time
	fetched   map[model.DocID]bool   // documents that were fetched, even if empty, or created here
	unsent    map[model.DocID]uint64 // number of the last record that the server lacks, by document
	notes     []model.DocID
	isNote    map[model.DocID]bool // set of notes
	nFetched  int                  // number of notes that are fetched
	live      map[*replica.Document]context.CancelFunc
	follows   *reports                        // reports of the current connection; nil if there are none
	rotated   map[*replica.Document]time.Time // time when rotate last queued each note
}

// New returns a Scheduler with the state of the store. It connects nothing before Run, and stops when ctx ends. If
// progress is not nil, the Scheduler calls it after each successful turn.
func New(ctx context.Context, set *replica.Set, store Store, progress func(Progress), folder Callbacks) (*Scheduler, error) {
	kept, err := store.DocIDs()
	if err != nil {
		return nil, err
	}
	unsent, err := store.Unsent()
	if err != nil {
		return nil, err
	}
	y := &Scheduler{
		set: set, store: store, progress: progress, callbacks: folder, ctx: ctx,
		changed: make(chan struct{}), queue: newQueue(), fetched: make(map[model.DocID]bool), unsent: unsent,
		live: make(map[*replica.Document]context.CancelFunc), rotated: make(map[*replica.Document]time.Time),
	}
	for id, seq := range unsent {
		set.Document(id).SetLast(seq)
	}
	for _, id := range kept {
		y.fetched[id] = true
	}
	return y, nil
}

// SetNotes sets the list of the folder's notes. The caller may hold the listing's lock.
func (y *Scheduler) SetNotes(notes []model.DocID) {
	isNote := make(map[model.DocID]bool, len(notes))
	y.mu.Lock()
	defer y.mu.Unlock()
	known := y.isNote
	y.notes, y.isNote, y.nFetched = notes, isNote, 0
	for _, id := range notes {
		isNote[id] = true
		if y.fetched[id] {
			y.nFetched++
		}
	}
	isNew := func(id model.DocID) bool { return !known[id] }
	if y.online && slices.ContainsFunc(notes, isNew) {
		y.enqueue(isNew)
	}
}

// enqueue queues the notes for which which returns true, and all documents with unsent changes. The caller holds the
// lock.
func (y *Scheduler) enqueue(which func(model.DocID) bool) {
	for id := range y.unsent {
		y.add(y.set.Document(id), prioUnsent)
	}
	for _, id := range y.notes {
		p := prioKnown
		if !y.fetched[id] {
			p = prioNew
		}
		if which(id) {
			y.add(y.set.Document(id), p)
		}
	}
	y.broadcast()
}

// add queues a note, unless it is connected. The caller holds the lock.
func (y *Scheduler) add(d *replica.Document, p priority) {
	if _, live := y.live[d]; !live && d.Note {
		y.queue.add(d, p)
	}
}

func (y *Scheduler) enqueueIfOffline(d *replica.Document, p priority) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.add(d, p)
	y.broadcast()
}

// Unsent records that the server lacks the record seq of a document, and queues the document unless it is connected.
// The caller may hold the document's lock.
func (y *Scheduler) Unsent(d *replica.Document, seq uint64, connected bool) {
	y.mu.Lock()
	y.unsent[d.ID()] = max(y.unsent[d.ID()], seq)
	y.mu.Unlock()
	if !connected {
		y.enqueueIfOffline(d, prioUnsent)
	}
}

func (y *Scheduler) HasUnacknowledged(id model.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.unsent[id] > 0
}

// Acknowledged records that the server has all changes of the document up to the record seq.
func (y *Scheduler) Acknowledged(d *replica.Document, seq uint64) {
	y.mu.Lock()
	last, lacked := y.unsent[d.ID()]
	all := last <= seq
	if all {
		delete(y.unsent, d.ID())
	}
	if y.online && len(y.unsent) == 0 {
		y.synced = time.Now()
	}
	y.broadcast()
	y.mu.Unlock()
	if lacked {
		_ = y.store.Sent(d.ID(), seq) // if a crash loses it, the changes are sent again, which has no effect
	}
	if all && d != y.set.Folder {
		y.callbacks.Uploaded(d)
	}
}

func (y *Scheduler) SetFetched(id model.DocID) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !y.fetched[id] {
		y.fetched[id] = true
		if y.isNote[id] {
			y.nFetched++
		}
	}
	y.broadcast()
}

type Progress struct{ Fetched, Notes int }

type State struct {
	Progress
	Connected bool
	Unsent    int // number of documents with unsent changes
	Queued    int // number of documents that wait for a worker
	Synced    time.Time
	// Compared is the earliest of the times at which the compared notes were last compared in this process. Uncompared
	// is the number of notes that this process has not compared yet.
	Compared   time.Time
	Uncompared int
}

// Progress returns two of the counts of State. Unlike State it does not look at each note, because it is called after
// each fetch.
func (y *Scheduler) Progress() Progress {
	y.mu.Lock()
	defer y.mu.Unlock()
	return Progress{y.nFetched, len(y.notes)}
}

func (y *Scheduler) State() State {
	y.mu.Lock()
	defer y.mu.Unlock()
	s := State{Progress: Progress{y.nFetched, len(y.notes)}, Connected: y.online, Unsent: len(y.unsent), Queued: y.queue.length(), Synced: y.synced}
	for _, id := range y.notes {
		at := y.set.Document(id).Compared()
		switch {
		case at.IsZero():
			s.Uncompared++
		case s.Compared.IsZero() || at.Before(s.Compared):
			s.Compared = at
		}
	}
	return s
}

func (y *Scheduler) Online() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.online
}
