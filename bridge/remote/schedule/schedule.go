// Package schedule decides which documents of a folder are connected when. It follows
// the folder's document, and gives the notes turns.
//
//	y, err := schedule.New(options, folder)
//	y.Run()
//	err = y.Fetched(ctx, d)
//
// The folder's document is always connected, if the server can be reached. Notes take
// turns, sixteen at a time: those that a reader waits for first, then those with
// changes to send, those that have changed at the server, those never fetched, and the
// rest to be compared. A note stays connected after its turn if it is in use and there
// is room. Where relay-server tells which notes have changed, the others get no turns.
//
// The package knows nothing of names: which notes there are, its Folder says.
//
// # Concurrency
//
// Everything may be called from several goroutines. The scheduler's lock comes after
// those of documents and of the listing, and before that of the queue. What relay-server
// was asked has a lock of its own, a leaf. No lock is held across the network.
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

// Workers is how many documents are fetched or compared at a time.
const Workers = 16

// Store knows what was fetched, and what was not acknowledged.
type Store interface {
	unsent.Store
	// Kept lists the documents that have a history.
	Kept() ([]model.DocID, error)
}

// Options configure a Scheduler.
type Options struct {
	Address  transport.Address
	Server   transport.Server
	Folder   string // the name of the folder's document at the server
	Set      *replica.Set
	Store    Store
	Resync   time.Duration  // how long the server may take to tell what has changed
	Progress func(Progress) // called when a note had its turn; may be nil
	Log      *slog.Logger
}

// Folder is what is done with what the Scheduler finds out. No lock is held while it is
// called.
type Folder interface {
	// Connected: the folder's document is in step, and the notes are about to be.
	Connected()
	// TryAgain: what has failed at the server may be tried again.
	TryAgain()
	// Uploaded: the server has all of a document.
	Uploaded(d *replica.Document)
	// Named is the note whose document has a name at the server, nil if none has.
	Named(name string) *replica.Document
}

// Scheduler decides which documents are connected when.
type Scheduler struct {
	o      Options
	folder Folder
	jobs   *jobs.Queue[*replica.Document]
	unsent *unsent.Log
	ctx    context.Context
	peers  sync.WaitGroup // those of notes; Add by workers alone

	mu        sync.Mutex // protects the following
	online    bool
	onlineSet chan struct{} // closed when the folder's document is in step for the first time
	cause     error         // why there is no connection
	problem   error         // what the server refused since, about one document
	synced    time.Time
	kept      map[model.DocID]bool // documents that have been fetched, or made here
	notes     []model.DocID
	live      map[*replica.Document]context.CancelFunc
	waiters   map[model.DocID][]chan struct{} // readers of documents that were never fetched
	tried     chan struct{}                   // closed after the first attempt to connect
	follows   *reports                        // tells what has changed, on the connection that there is; nil if nobody does
}

// New reads what the store knows. Until Run nothing is connected; ctx ends everything.
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
		onlineSet: make(chan struct{}), tried: make(chan struct{}), kept: make(map[model.DocID]bool),
		live: make(map[*replica.Document]context.CancelFunc), waiters: make(map[model.DocID][]chan struct{}),
	}
	for id, seq := range owed.Pending() {
		o.Set.Document(id).SetLast(seq)
	}
	for _, id := range kept {
		y.kept[id] = true
	}
	return y, nil
}

// SetNotes says which notes the folder holds. The listing's lock may be held.
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

// enqueue gives every one of the notes its turn.
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

// want gives a note its turn, unless it is connected.
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

// Unsent says that the server lacks the record seq of a document, which is connected or
// gets a turn. The document's lock may be held.
func (y *Scheduler) Unsent(d *replica.Document, seq uint64, connected bool) {
	y.unsent.Add(d.ID(), seq)
	if !connected {
		y.want(d, jobs.Unsent)
	}
}

// Lacks says that the server lacks something of a document.
func (y *Scheduler) Lacks(id model.DocID) bool { return y.unsent.Has(id) }

// Acknowledged says that the server has everything of the document up to seq.
func (y *Scheduler) Acknowledged(d *replica.Document, seq uint64) {
	all := y.unsent.Acknowledge(d.ID(), seq)
	y.mu.Lock()
	if y.online && y.unsent.Len() == 0 {
		y.synced = time.Now()
	}
	y.mu.Unlock()
	if all && d != y.o.Set.Folder() {
		y.folder.Uploaded(d)
	}
}

// Keep says that a document is in the store.
func (y *Scheduler) Keep(id model.DocID) {
	y.mu.Lock()
	y.kept[id] = true
	waiters := y.waiters[id]
	delete(y.waiters, id)
	y.mu.Unlock()
	for _, c := range waiters {
		close(c)
	}
}
