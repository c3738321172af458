package replica

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type Options struct {
	Address transport.Address
	Server  transport.Server
	Name    string         // name of the folder's document on the server
	Store   model.Store    // stores all documents
	Client  ycrdt.ClientID // client ID of all changes by this process
	Author  string         // name shown in the notes being edited; if empty, none is shown
	Resync  time.Duration  // see DefaultResync
	// If NewFolder is set, a folder that the server does not have is created.
	NewFolder bool
	Log       *slog.Logger
	// Problems has the problems with the server, by subject; see model.Problem.
	Problems *model.Problems
}

// Callbacks receives calls about documents. The document's lock may be held during each call except Acknowledged.
type Callbacks interface {
	// Path returns the store path of a note, or "" if the note has none.
	Path(id model.DocID) string
	// Changed is called after the server or a repair has changed d.
	Changed(d *Document)
	// FolderReceives is called before an update by the server is applied to the folder's document. applied is called after
	// the update.
	FolderReceives(folder *ycrdt.Doc, update []byte) (applied func())
	// Unsent is called when the server lacks the record seq of d; connected is set if d has a peer.
	Unsent(d *Document, seq uint64, connected bool)
	// Acknowledged is called when the server has all changes of d up to the record seq.
	Acknowledged(d *Document, seq uint64)
}

// The IDs and store paths below belong to documents that are not notes. No note's path starts with a slash.
const (
	FolderID, folderPath = model.DocID("folder"), model.Path("/")
	DraftsID, draftsPath = model.DocID("drafts"), model.Path("//")
)

type Set struct {
	Options
	Folder *Document
	// Drafts is a folder document that exists only on this machine. It lists the notes that relayfs has yet to add to
	// the server's folder document.
	Drafts      *Document
	WriteAccess *WriteAccess

	callbacks  Callbacks
	cursors    *cursors
	loadedDocs docLRU

	mu        sync.Mutex // guards the field below
	documents map[model.DocID]*Document
}

// NewSet returns a Set. It reads nothing and opens no connection.
func NewSet(o Options, owner Callbacks) *Set {
	s := &Set{Options: o, callbacks: owner, WriteAccess: &WriteAccess{o: o}, cursors: newPresence(o.Author, o.Client)}
	s.Folder = &Document{set: s, id: FolderID, Name: o.Name}
	s.Drafts = &Document{set: s, id: DraftsID}
	s.documents = map[model.DocID]*Document{FolderID: s.Folder, DraftsID: s.Drafts}
	return s
}

func (s *Set) Document(id model.DocID) *Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[id]
	if d == nil {
		d = &Document{set: s, id: id, Name: transport.DocumentName(s.Name, string(id)), Note: true}
		s.documents[id] = d
	}
	return d
}

// Silent returns the time since which the server has been silent, or zero if no answer is overdue.
func (s *Set) Silent() (since time.Time) {
	for _, d := range s.all() {
		q := d.query.Load()
		if q == nil {
			continue
		}
		at := q.peer.silentSince(q.sent)
		if time.Since(at) > s.Resync/ticks && (since.IsZero() || at.Before(since)) {
			since = at
		}
	}
	return since
}

func (s *Set) all() []*Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.documents))
}

func (s *Set) Flush() error { return s.each((*Document).Flush) }

// Close is Flush, after which no timer uses the store any more. No document may have a peer.
func (s *Set) Close() error { return s.each((*Document).close) }

func (s *Set) each(fn func(*Document) error) (err error) {
	for _, d := range s.all() {
		err = errors.Join(err, fn(d))
	}
	return err
}

// append appends records of d, whose lock the caller holds.
func (s *Set) append(d *Document, records ...model.Record) (uint64, error) {
	seq, err := s.Store.Append(d.id, s.path(d), records...)
	if err == nil {
		// No file can lag behind these documents, so all records may be compacted. The sum is the evidence that a text is
		// relayfs's own (History.WroteText).
		s.Store.RecordFileSeq(d.id, seq, d.state.written, model.Stamp{})
	}
	return seq, err
}

func (s *Set) path(d *Document) model.Path {
	switch d {
	case s.Folder:
		return folderPath
	case s.Drafts:
		return draftsPath
	}
	if p := s.callbacks.Path(d.id); p != "" {
		return model.Path(p)
	}
	return model.Path("/" + string(d.id)) // its entry was deleted
}

// Logged logs err, unless it is nil. what names the failed operation.
func (s *Set) Logged(what string, err error) {
	if err != nil {
		s.Log.Error("cannot "+what, model.LogFolder, s.Name, model.LogErr, err)
	}
}

// maxResident is the number of notes in memory above which notes without a connection are evicted.
const maxResident = 64

// docLRU limits the number of notes in memory. It evicts the note that was loaded first.
type docLRU struct {
	mu   sync.Mutex // guards the field below
	docs []*Document
}

func (r *docLRU) add(d *Document) {
	if !d.Note {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.docs = append(r.docs, d)
	over := len(r.docs) - maxResident
	r.docs = slices.DeleteFunc(r.docs, func(x *Document) bool {
		if x == d || over <= 0 || !x.evict() {
			return false
		}
		over--
		return true
	})
}
