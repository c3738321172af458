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

// Options configure a Set.
type Options struct {
	Address transport.Address
	Server  transport.Server
	Name    string         // of the folder's document at the server
	Store   model.Store    // of all documents
	Client  ycrdt.ClientID // of all changes of this process
	Author  string         // shown in the notes that are edited; "" shows nobody
	Resync  time.Duration  // see DefaultResync
	// NewFolder has a folder be made that the server has nothing of.
	NewFolder bool
	Log       *slog.Logger
	// Problems are those with the server, by what they are about, see model.Problem.
	Problems *model.Problems
}

// Owner is called about documents. The document's lock is held during the call, except
// that of Acknowledged.
type Owner interface {
	// Path is the path of a note for the store, "" if there is none.
	Path(id model.DocID) string
	// Changed: the server has changed d.
	Changed(d *Document)
	// FolderReceives: an update of the server is about to be applied to the folder's
	// document; applied is called after that.
	FolderReceives(folder *ycrdt.Doc, update []byte) (applied func())
	// Unsent: the server lacks the record seq of d; connected is set if d has a peer.
	Unsent(d *Document, seq uint64, connected bool)
	// Acknowledged: the server has everything of d up to seq.
	Acknowledged(d *Document, seq uint64)
}

// Names and paths in the store of the documents that are no notes. No note's path begins
// with a slash.
const (
	FolderID, folderPath = model.DocID("folder"), model.Path("/")
	DraftsID, draftsPath = model.DocID("drafts"), model.Path("//")
)

// Set is the documents of one folder.
type Set struct {
	Options
	// Folder is the folder's document.
	Folder *Document
	// Drafts is a document of the same form that never leaves this machine: notes whose
	// content the server has not acknowledged.
	Drafts *Document
	// Access is whether the server takes changes.
	Access *Access

	owner     Owner
	presence  *presence
	resident  resident
	questions questions

	mu        sync.Mutex // protects the following
	documents map[model.DocID]*Document
}

// NewSet returns a Set. Nothing is read or connected yet.
func NewSet(o Options, owner Owner) *Set {
	s := &Set{Options: o, owner: owner, Access: &Access{o: o}, presence: newPresence(o.Author, o.Client)}
	s.Folder = &Document{set: s, id: FolderID, Name: o.Name}
	s.Drafts = &Document{set: s, id: DraftsID}
	s.documents = map[model.DocID]*Document{FolderID: s.Folder, DraftsID: s.Drafts}
	return s
}

// Document returns the document with the given id.
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

// Silent returns since when nothing has come from the server although an answer is overdue,
// the zero time if none is.
func (s *Set) Silent() time.Time {
	if at := s.questions.oldest(); !at.IsZero() && time.Since(at) > s.Resync/ticks {
		return at
	}
	return time.Time{}
}

// Flush stores what has arrived of all documents.
func (s *Set) Flush() error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.documents))
	s.mu.Unlock()
	var errs []error
	for _, d := range all {
		errs = append(errs, d.Flush())
	}
	return errors.Join(errs...)
}

// append stores records of a document.
func (s *Set) append(d *Document, records ...model.Record) (uint64, error) {
	seq, err := s.Store.Append(d.id, s.path(d), records...)
	if err == nil {
		// No file can lag behind, so everything may be compacted.
		s.Store.Materialized(d.id, seq, model.ContentSum{})
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
	if p := s.owner.Path(d.id); p != "" {
		return model.Path(p)
	}
	return model.Path("/" + string(d.id)) // its entry is gone
}

// Logged logs the failure of what, unless err is nil.
func (s *Set) Logged(what string, err error) {
	if err != nil {
		s.Log.Error("cannot "+what, model.LogFolder, s.Name, model.LogErr, err)
	}
}

// maxResident is the number of unconnected documents in memory.
const maxResident = 64

// resident bounds the memory of documents. It evicts the first to be loaded.
type resident struct {
	mu   sync.Mutex // protects the following
	docs []*Document
}

// add adds a document that has been loaded, and evicts others.
func (r *resident) add(d *Document) {
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
