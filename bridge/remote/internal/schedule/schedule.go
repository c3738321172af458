// Package schedule decides which documents of a folder are connected when. It keeps the
// folder's document connected, and gives the notes turns.
//
//	y, err := schedule.New(ctx, set, store, progress, folder)
//	y.Run()
//	err = y.Fetched(ctx, d)
//
// Notes take turns, sixteen at a time: first those that a reader waits for, then those with
// changes to send, those that somebody opens, those that have changed at the server, those never
// fetched, and the rest to be compared. A note stays connected after its turn if somebody has it
// in use and there is room.
//
// relay-server reports which notes have changed, so that the others need no turns. It keeps
// changes of a note to itself that was loaded without a channel, and neither its events nor its
// index of snapshots show that. So those notes that were compared longest ago get turns, too, one
// after the other.
//
// The package does not know names: its Folder lists the notes.
//
// # Concurrency
//
// Everything is safe for concurrent use. The scheduler's lock comes after those of documents
// and of the listing. That of the reports comes last. No lock is held across the network
// or the store.
package schedule

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Workers is the number of documents that are fetched or compared at a time.
const Workers = 16

// Store remembers which documents were fetched, and which were not acknowledged.
type Store interface {
	// Kept returns the documents with a history.
	Kept() ([]model.DocID, error)
	// Unsent returns the last unacknowledged record of each document that has some.
	Unsent() (map[model.DocID]uint64, error)
	// Sent records that the server has everything of a document up to seq.
	Sent(id model.DocID, seq uint64) error
}

// Folder is called about the folder, without locks held.
type Folder interface {
	// Connected: the folder's document is in step, and the notes will be.
	Connected()
	// TryAgain: failed requests may be tried again.
	TryAgain()
	// Uploaded: the server has all of a document.
	Uploaded(d *replica.Document)
	// Named returns the note with a document name at the server, nil if there is none.
	Named(name string) *replica.Document
}

// Scheduler decides which documents are connected when.
type Scheduler struct {
	set      *replica.Set
	store    Store
	progress func(Progress) // see New
	folder   Folder
	acked    model.Signal // sent has something
	ctx      context.Context
	peers    sync.WaitGroup // of notes; only workers add

	mu      sync.Mutex    // protects the following
	changed chan struct{} // closed and replaced when something changes that wait waits for
	queue   queue         // documents that wait for a turn
	turns   bool          // they get turns
	online  bool
	tried   bool // the first attempt to connect is over
	synced  time.Time
	kept    map[model.DocID]bool   // documents that have been fetched, empty ones too, or created here
	unsent  map[model.DocID]uint64 // of each document, the last record that the server lacks
	sent    map[model.DocID]uint64 // acknowledged, but not in the store yet
	notes   []model.DocID
	live    map[*replica.Document]context.CancelFunc
	follows *reports                        // reports of the present connection, nil if there are none
	rotated map[*replica.Document]time.Time // when rotate last queued them
}

// New reads the store. Nothing is connected before Run; ctx ends everything. progress is
// called after the turn of a note, unless it is nil.
func New(ctx context.Context, set *replica.Set, store Store, progress func(Progress), folder Folder) (*Scheduler, error) {
	kept, err := store.Kept()
	if err != nil {
		return nil, err
	}
	unsent, err := store.Unsent()
	if err != nil {
		return nil, err
	}
	y := &Scheduler{
		set: set, store: store, progress: progress, folder: folder, acked: model.NewSignal(), ctx: ctx,
		changed: make(chan struct{}), queue: newQueue(), kept: make(map[model.DocID]bool), unsent: unsent, sent: make(map[model.DocID]uint64),
		live: make(map[*replica.Document]context.CancelFunc), rotated: make(map[*replica.Document]time.Time),
	}
	for id, seq := range unsent {
		set.Document(id).SetLast(seq)
	}
	for _, id := range kept {
		y.kept[id] = true
	}
	return y, nil
}

// SetNotes sets the notes of the folder. The listing's lock may be held.
func (y *Scheduler) SetNotes(notes []model.DocID) {
	y.mu.Lock()
	known := make(map[model.DocID]bool, len(y.notes))
	for _, id := range y.notes {
		known[id] = true
	}
	y.notes = notes
	online := y.online
	y.mu.Unlock()
	if !online {
		return
	}
	added := slices.DeleteFunc(slices.Clone(notes), func(id model.DocID) bool { return known[id] })
	if len(added) > 0 {
		go y.enqueue(added)
	}
}

// enqueue queues notes, and all documents with unsent changes.
func (y *Scheduler) enqueue(notes []model.DocID) {
	for _, id := range notes {
		y.want(y.set.Document(id), y.priorityOf(id))
	}
	y.mu.Lock()
	unsent := slices.Collect(maps.Keys(y.unsent))
	y.mu.Unlock()
	for _, id := range unsent {
		if id != replica.FolderID {
			y.want(y.set.Document(id), forUnsent)
		}
	}
}

func (y *Scheduler) priorityOf(id model.DocID) priority {
	switch {
	case y.Lacks(id):
		return forUnsent
	case !y.isKept(id):
		return forNew
	}
	return forKnown
}

// want queues a note, unless it is connected.
func (y *Scheduler) want(d *replica.Document, p priority) {
	if !d.Note {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if _, live := y.live[d]; !live {
		y.queue.add(d, p)
		y.tell()
	}
}

// Unsent records that the server lacks the record seq of a document, and queues that unless
// it is connected. The document's lock may be held.
func (y *Scheduler) Unsent(d *replica.Document, seq uint64, connected bool) {
	y.mu.Lock()
	y.unsent[d.ID()] = max(y.unsent[d.ID()], seq)
	y.mu.Unlock()
	if !connected {
		y.want(d, forUnsent)
	}
}

// Lacks reports whether the server lacks something of a document.
func (y *Scheduler) Lacks(id model.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.unsent[id] > 0
}

// Acknowledged records that the server has everything of the document up to seq.
func (y *Scheduler) Acknowledged(d *replica.Document, seq uint64) {
	y.mu.Lock()
	last, lacked := y.unsent[d.ID()]
	all := last <= seq
	if all {
		delete(y.unsent, d.ID())
	}
	if lacked {
		y.sent[d.ID()] = max(y.sent[d.ID()], seq)
		y.acked.Set()
	}
	if y.online && len(y.unsent) == 0 {
		y.synced = time.Now()
	}
	y.tell()
	y.mu.Unlock()
	if all && d != y.set.Folder {
		y.folder.Uploaded(d)
	}
}

// storeSent stores acknowledgements until the context of New ends. What a crash loses is
// sent again, which changes nothing.
func (y *Scheduler) storeSent() {
	for range y.acked.Each(y.ctx) {
		y.mu.Lock()
		sent := y.sent
		y.sent = make(map[model.DocID]uint64)
		y.mu.Unlock()
		for id, seq := range sent {
			_ = y.store.Sent(id, seq) // the store tells of an error
		}
	}
}

// Keep records that a document is in the store.
func (y *Scheduler) Keep(id model.DocID) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.kept[id] = true
	y.tell()
}

// Progress is how many of the folder's notes are here.
type Progress struct{ Fetched, Notes int }

// State is the progress of the synchronisation with the server.
type State struct {
	Progress
	Connected bool
	Unsent    int // documents
	Queued    int // documents that wait for a worker
	Synced    time.Time
	// Compared is when that note was compared which was compared longest ago, of those that were
	// since the process began. Uncompared is how many were not.
	Compared   time.Time
	Uncompared int
}

// State returns the progress of the synchronisation with the server.
func (y *Scheduler) State() State {
	y.mu.Lock()
	defer y.mu.Unlock()
	s := State{Progress: Progress{Notes: len(y.notes)}, Connected: y.online, Unsent: len(y.unsent), Queued: y.queue.length(), Synced: y.synced}
	for _, id := range y.notes {
		if y.kept[id] {
			s.Fetched++
		}
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

// Online reports whether the folder's document is connected.
func (y *Scheduler) Online() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.online
}
