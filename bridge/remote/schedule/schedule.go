// Package schedule decides which documents of a folder are connected when. It keeps the
// folder's document connected, and gives the notes turns.
//
//	y, err := schedule.New(ctx, options, folder)
//	y.Run()
//	err = y.Fetched(ctx, d)
//
// Notes take turns, sixteen at a time: first those that a reader waits for, then those with
// changes to send, those that have changed at the server, those never fetched, and the rest
// to be compared. A note stays connected after its turn if it is in use and there is room.
// If relay-server reports which notes have changed, the others get no turns.
//
// The package does not know names: its Folder lists the notes.
//
// # Concurrency
//
// Everything is safe for concurrent use. The scheduler's lock comes after those of documents
// and of the listing, and before that of the queue. The lock of the reports is a leaf. No
// lock is held across the network.
package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/jobs"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/unsent"
)

// Workers is the number of documents that are fetched or compared at a time.
const Workers = 16

// Store remembers which documents were fetched, and which were not acknowledged.
type Store interface {
	unsent.Store
	// Kept returns the documents with a history.
	Kept() ([]model.DocID, error)
}

// Options configure a Scheduler.
type Options struct {
	Address  transport.Address
	Server   transport.Server
	Folder   string // the name of the folder's document at the server
	Set      *replica.Set
	Store    Store
	Resync   time.Duration  // how long the server may take to report changes
	Progress func(Progress) // called after the turn of a note; may be nil
	Log      *slog.Logger
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
	o      Options
	folder Folder
	jobs   *jobs.Queue[*replica.Document]
	unsent *unsent.Log
	ctx    context.Context
	peers  sync.WaitGroup // of notes; only workers add

	mu      sync.Mutex    // protects the following
	changed chan struct{} // closed and replaced when something changes that await waits for
	online  bool
	tried   bool  // the first attempt to connect is over
	cause   error // why there is no connection
	problem error // the last error about one document since
	synced  time.Time
	kept    map[model.DocID]bool // documents that have been fetched or created here
	notes   []model.DocID
	live    map[*replica.Document]context.CancelFunc
	follows *reports // reports of the present connection, nil if there are none
}

// New reads the store. Nothing is connected before Run; ctx ends everything.
func New(ctx context.Context, o Options, folder Folder) (*Scheduler, error) {
	kept, err := o.Store.Kept()
	if err != nil {
		return nil, err
	}
	owed, err := unsent.Open(o.Store)
	if err != nil {
		return nil, err
	}
	y := &Scheduler{
		o: o, folder: folder, jobs: jobs.NewQueue[*replica.Document](), unsent: owed, ctx: ctx,
		changed: make(chan struct{}), kept: make(map[model.DocID]bool), live: make(map[*replica.Document]context.CancelFunc),
	}
	for id, seq := range owed.Pending() {
		o.Set.Document(id).SetLast(seq)
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
	var added []model.DocID
	for _, id := range notes {
		if !known[id] {
			added = append(added, id)
		}
	}
	if len(added) > 0 {
		go y.enqueue(added)
	}
}

// enqueue queues notes, and all documents with unsent changes.
func (y *Scheduler) enqueue(notes []model.DocID) {
	for _, id := range notes {
		y.want(y.o.Set.Document(id), y.priority(id))
	}
	for id := range y.unsent.Pending() {
		if id != replica.FolderID {
			y.want(y.o.Set.Document(id), jobs.Unsent)
		}
	}
}

func (y *Scheduler) priority(id model.DocID) jobs.Priority {
	switch {
	case y.unsent.Has(id):
		return jobs.Unsent
	case !y.isKept(id):
		return jobs.New
	}
	return jobs.Known
}

// want queues a note, unless it is connected.
func (y *Scheduler) want(d *replica.Document, p jobs.Priority) {
	if !d.IsNote() {
		return
	}
	y.mu.Lock()
	_, live := y.live[d]
	y.mu.Unlock()
	if !live {
		y.jobs.Add(d, p)
	}
}

// Unsent records that the server lacks the record seq of a document, and queues that unless
// it is connected. The document's lock may be held.
func (y *Scheduler) Unsent(d *replica.Document, seq uint64, connected bool) {
	y.unsent.Add(d.ID(), seq)
	if !connected {
		y.want(d, jobs.Unsent)
	}
}

// Lacks reports whether the server lacks something of a document.
func (y *Scheduler) Lacks(id model.DocID) bool { return y.unsent.Has(id) }

// Acknowledged records that the server has everything of the document up to seq.
func (y *Scheduler) Acknowledged(d *replica.Document, seq uint64) {
	all := y.unsent.Acknowledge(d.ID(), seq)
	y.mu.Lock()
	if y.online && y.unsent.Len() == 0 {
		y.synced = time.Now()
	}
	y.tell()
	y.mu.Unlock()
	if all && d != y.o.Set.Folder() {
		y.folder.Uploaded(d)
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
	Synced    time.Time
	Cause     error // why there is no connection
	Problem   error // the last error about one document since there is one
}

// State returns the progress of the synchronisation with the server.
func (y *Scheduler) State() State {
	unsent := y.unsent.Len()
	y.mu.Lock()
	defer y.mu.Unlock()
	s := State{Progress: Progress{Notes: len(y.notes)}, Connected: y.online, Unsent: unsent, Synced: y.synced, Cause: y.cause, Problem: y.problem}
	for _, id := range y.notes {
		if y.kept[id] {
			s.Fetched++
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
