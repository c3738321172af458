package replica

import (
	"errors"
	"log/slog"
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
	Folder  string         // the name of the folder's document at the server
	Store   model.Store    // keeps all documents
	Client  ycrdt.ClientID // of all changes that this process makes
	Author  string         // who shows up in the notes that are edited; "" shows nobody
	Resync  time.Duration  // see DefaultResync
	Log     *slog.Logger
}

// Owner is told what happens to documents. A document's lock is held while its owner is
// called, but by Acknowledged.
type Owner interface {
	// Path is where the store is to list a document that is a note, "" if nowhere.
	Path(id model.DocID) string
	// Changed: the server has changed d.
	Changed(d *Document)
	// FolderReceives: an update of the server is about to be applied to the folder's
	// document; applied is called after that.
	FolderReceives(folder *ycrdt.Doc, update []byte) (applied func())
	// Unsent: the server lacks the record seq of d, which has a peer if connected is set.
	Unsent(d *Document, seq uint64, connected bool)
	// Acknowledged: the server has everything of d up to seq.
	Acknowledged(d *Document, seq uint64)
}

// Names in the store of the documents that are no notes, and where they live
// there: no note's path begins with a slash.
const (
	FolderID, folderPath = model.DocID("folder"), model.Path("/")
	DraftsID, draftsPath = model.DocID("drafts"), model.Path("//")
)

// Set is the documents of one folder.
type Set struct {
	o        Options
	owner    Owner
	access   *Access
	presence *presence
	resident resident

	folder, drafts *Document

	mu        sync.Mutex // protects the following
	documents map[model.DocID]*Document
}

// NewSet makes a Set. Nothing is read or connected yet.
func NewSet(o Options, owner Owner) *Set {
	s := &Set{o: o, owner: owner, access: &Access{address: o.Address, folder: o.Folder, log: o.Log}, presence: newPresence(o.Author, o.Client)}
	s.folder = &Document{set: s, id: FolderID, name: o.Folder}
	s.drafts = &Document{set: s, id: DraftsID}
	s.documents = map[model.DocID]*Document{FolderID: s.folder, DraftsID: s.drafts}
	return s
}

// Folder is the folder's document.
func (s *Set) Folder() *Document { return s.folder }

// Drafts is a document of the same form that never leaves this machine: notes whose
// content the server has not acknowledged.
func (s *Set) Drafts() *Document { return s.drafts }

// Access is whether the server takes changes.
func (s *Set) Access() *Access { return s.access }

// Document is the document with the given id.
func (s *Set) Document(id model.DocID) *Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[id]
	if d == nil {
		d = &Document{set: s, id: id, name: transport.DocumentName(s.o.Folder, string(id)), note: true}
		s.documents[id] = d
	}
	return d
}

// Flush keeps what has arrived of all documents.
func (s *Set) Flush() error {
	s.mu.Lock()
	var all []*Document
	for _, d := range s.documents {
		all = append(all, d)
	}
	s.mu.Unlock()
	var errs []error
	for _, d := range all {
		errs = append(errs, d.Flush())
	}
	return errors.Join(errs...)
}

// append keeps records of a document. Its lock is held.
func (s *Set) append(d *Document, records ...model.Record) (uint64, error) {
	seq, err := s.o.Store.Append(d.id, s.path(d), records...)
	if err == nil {
		// There is no file that would lag behind: everything may be compacted.
		s.o.Store.Materialized(d.id, seq, model.ContentSum{})
	}
	return seq, err
}

func (s *Set) path(d *Document) model.Path {
	switch d {
	case s.folder:
		return folderPath
	case s.drafts:
		return draftsPath
	}
	if p := s.owner.Path(d.id); p != "" {
		return model.Path(p)
	}
	return model.Path("/" + string(d.id)) // its entry is gone
}

func (s *Set) logged(what string, err error) {
	if err != nil {
		s.o.Log.Error("cannot "+what, model.LogFolder, s.o.Folder, model.LogErr, err)
	}
}
