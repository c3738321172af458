package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Store is what a Source keeps everything in: package bridge/store's is one. It
// must be the one that the workspace is given for the Folder.
type Store interface {
	bridge.Store
	// Kept lists the documents that have a history.
	Kept() ([]bridge.DocID, error)
	// Unsent returns the documents with records that were appended as Unsent, each
	// with the number of the last one, but for those that Sent has crossed out.
	Unsent() (map[bridge.DocID]uint64, error)
	Sent(id bridge.DocID, seq uint64) error
}

// Options configure a Source.
type Options struct {
	Address transport.Address
	Folder  string     // the name of the folder document at the server
	Store   Store      // closed by the caller, after the Source
	Key     *token.Key // of a YSweet server, to make tokens with; nil asks the server
	// Author, if set, is who shows up in the notes that are edited, as
	// "Author (agent)".
	Author string
	// Attachments is the directory that keeps the bytes of attachments by their
	// hashes; "" serves none, as do servers that have no place for them.
	Attachments string
	Progress    func(Progress) // called while many notes are fetched; may be nil
	// Resync is how often a connected document is compared anew, and how long an
	// answer of the server may take; default 20 s.
	Resync time.Duration
	Logger *slog.Logger // nil discards
}

// Names in the store of the documents that are no notes, and where they live
// there: no note's path begins with a slash.
const (
	folderID, folderPath = bridge.DocID("folder"), bridge.Path("/")
	draftsID, draftsPath = bridge.DocID("drafts"), bridge.Path("//")
)

// Source serves one shared folder of a server.
type Source struct {
	o         Options
	log       *slog.Logger
	client    ycrdt.ClientID // of all changes that this process makes
	transport transport.Server
	sync      *syncer
	resident  resident
	presence  presence

	attachments attachments

	// folder is the folder's document, drafts a document of the same form that never
	// leaves this machine: notes whose content the server has not acknowledged.
	folder, drafts *document

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	relist chan struct{} // holds a token when the folder's document has changed

	// moving is held while a draft becomes an entry, and while entries move or go:
	// these see it in one of the documents. It comes before all other locks.
	moving sync.Mutex

	mu        sync.Mutex // protects the following
	documents map[bridge.DocID]*document
	paths     map[bridge.DocID]string
	losers    map[bridge.DocID]bool // drafts that are not shown yet; see clash.go
	listing   []folderdoc.Entry     // what the workspace knows of
	byPath    map[string]folderdoc.Entry
	hidden    []string // paths that are not shown because of their names
	readOnly  string   // why, "" if it is not
	events    []bridge.SourceEvent
	dirty     map[bridge.DocID]bool // documents that have changed
	wake      chan struct{}         // holds a token when events or dirty has something
}

// Open makes a Source from what the store has, and begins to connect. It does
// not wait for the server.
func Open(o Options) (*Source, error) {
	s := &Source{
		o: o, log: o.Logger, client: ycrdt.ClientID(rand.Uint32()) | 1,
		relist: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		documents: make(map[bridge.DocID]*document), paths: make(map[bridge.DocID]string),
		losers: make(map[bridge.DocID]bool), dirty: make(map[bridge.DocID]bool),
	}
	if s.o.Resync <= 0 {
		s.o.Resync = defaultResync
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.presence.init(o.Author, s.client)
	s.transport = transport.New(o.Address, o.Folder, o.Key, workers)
	if err := s.openAttachments(); err != nil {
		return nil, err
	}
	s.folder = &document{src: s, id: folderID, name: o.Folder}
	s.drafts = &document{src: s, id: draftsID}
	s.paths[folderID], s.paths[draftsID] = string(folderPath), string(draftsPath)
	s.documents[folderID], s.documents[draftsID] = s.folder, s.drafts
	s.sync = newSyncer(s)
	if err := s.sync.restore(); err != nil {
		return nil, err
	}
	if err := s.list(false); err != nil {
		return nil, err
	}
	s.wg.Go(s.followListing)
	s.wg.Go(s.sync.run)
	s.wg.Go(s.fetchAttachments)
	return s, nil
}

// Close sends what is to be sent, if the server takes it within a few seconds,
// ends the connections and keeps what has arrived.
func (s *Source) Close() error {
	s.sync.drain(closePatience)
	s.cancel()
	s.wg.Wait()
	s.transport.Close()
	s.mu.Lock()
	var all []*document
	for _, d := range s.documents {
		all = append(all, d)
	}
	s.mu.Unlock()
	var errs []error
	for _, d := range all {
		errs = append(errs, d.flush())
	}
	return errors.Join(errs...)
}

// append keeps records of a document.
func (s *Source) append(d *document, records ...bridge.Record) (uint64, error) {
	s.mu.Lock()
	p := s.paths[d.id]
	s.mu.Unlock()
	if p == "" {
		p = "/" + string(d.id) // its entry is gone
	}
	seq, err := s.o.Store.Append(d.id, bridge.Path(p), records...)
	if err == nil {
		// There is no file that would lag behind: everything may be compacted.
		s.o.Store.Materialized(d.id, seq, bridge.ContentSum{})
	}
	return seq, err
}

func (s *Source) logged(what string, err error) {
	if err != nil {
		s.log.Error("cannot "+what, bridge.LogFolder, s.o.Folder, bridge.LogErr, err)
	}
}

// changed takes note that the server has changed a document. d.mu is held.
func (s *Source) changed(d *document) {
	switch d {
	case s.drafts:
	case s.folder:
		signal(s.relist)
	default:
		s.mu.Lock()
		s.dirty[d.id] = true
		s.mu.Unlock()
		signal(s.wake)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// document is the document with the given id.
func (s *Source) document(id bridge.DocID) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[id]
	if d == nil {
		d = &document{src: s, id: id, name: transport.DocumentName(s.o.Folder, string(id))}
		s.documents[id] = d
	}
	return d
}

// Document returns the live document of the note at rel. One that was never
// fetched is fetched first, before all others.
func (s *Source) Document(ctx context.Context, rel string) (bridge.Document, error) {
	e, err := s.find("open", rel)
	if err != nil {
		return nil, err
	}
	switch e.Type {
	case folderdoc.TypeFolder:
		return nil, failed("open", rel, bridge.ErrIsDir)
	case folderdoc.TypeMarkdown:
	default:
		return nil, failed("open", rel, bridge.ErrNotNote)
	}
	d := s.document(bridge.DocID(e.ID))
	if err := s.sync.fetched(ctx, d); err != nil {
		return nil, failed("open", rel, err)
	}
	return d, nil
}

// Read returns the text of the note, or the bytes of the attachment, at rel.
func (s *Source) Read(ctx context.Context, rel string) ([]byte, bridge.Stamp, error) {
	if !bridge.Path(rel).IsNote() {
		return s.readAttachment(rel)
	}
	live, err := s.Document(ctx, rel)
	if err != nil {
		return nil, bridge.Stamp{}, err
	}
	var data []byte
	var stamp bridge.Stamp
	d := live.(*document)
	err = d.View(ctx, func(doc *ycrdt.Doc, modTime time.Time) error {
		data = []byte(doc.Text(folderdoc.ContentsName).String())
		stamp = d.stamp(len(data), modTime)
		return nil
	})
	return data, stamp, err
}

// stamp names the document's state. mu is held.
func (d *document) stamp(size int, modTime time.Time) bridge.Stamp {
	return bridge.Stamp{
		Device: uint64(d.src.client), Size: int64(size), ModTime: modTime.UnixNano(), ChgTime: d.version,
	}
}

// Replace makes r.Data the content of the note or attachment at rel, if what is
// there is what r.Expect names.
func (s *Source) Replace(ctx context.Context, rel string, r bridge.Replacement) (bridge.Stamp, error) {
	if err := r.Prepare(); err != nil {
		return bridge.Stamp{}, err
	}
	if !bridge.Path(rel).IsNote() {
		return s.replaceAttachment(ctx, rel, r.Expect, r.Data)
	}
	live, err := s.Document(ctx, rel)
	if err != nil {
		return bridge.Stamp{}, err
	}
	d := live.(*document)
	err = d.Change(ctx, &bridge.Record{Time: r.ModTime.UTC()}, func(doc *ycrdt.Doc) error {
		text := doc.Text(folderdoc.ContentsName)
		have := text.String()
		if d.stamp(len(have), d.modTime) != r.Expect {
			return bridge.ErrConflict
		}
		replaceText(doc, text, have, string(r.Data))
		return nil
	})
	if err != nil {
		return bridge.Stamp{}, failed("write", rel, err)
	}
	_, stamp, err := s.Read(ctx, rel)
	return stamp, err
}

// Run reports what peers do until ctx ends.
func (s *Source) Run(ctx context.Context, changed func(bridge.SourceEvent)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		}
		s.mu.Lock()
		events, dirty := s.events, s.dirty
		s.events, s.dirty = nil, make(map[bridge.DocID]bool)
		s.mu.Unlock()
		for _, ev := range events {
			changed(ev)
		}
		for id := range dirty {
			if ev, ok := s.changeOf(id); ok {
				changed(ev)
			}
		}
	}
}

// changeOf describes a change of a note's text.
func (s *Source) changeOf(id bridge.DocID) (bridge.SourceEvent, bool) {
	d := s.document(id)
	d.mu.Lock()
	modTime := d.modTime
	d.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	rel, ok := s.paths[id]
	if !ok || s.byPath[rel].ID != string(id) {
		return bridge.SourceEvent{}, false
	}
	e := s.entryOf(s.byPath[rel])
	e.Stamp.ModTime = modTime.UnixNano()
	return bridge.SourceEvent{Kind: bridge.EventChanged, Rel: rel, Entry: e}, true
}

// ReadOnly says that the server takes no changes.
func (s *Source) ReadOnly() bool { return s.Locked() != nil }

// Locked says why the server takes no changes, and what to do about it.
func (s *Source) Locked() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly == "" {
		return nil
	}
	return &bridge.ReadOnlyError{Reason: s.lockedReason(s.readOnly)}
}

// lockedReason makes a sentence of why the server takes no changes.
func (s *Source) lockedReason(why string) string {
	return fmt.Sprintf("%s takes no changes: %s; set RELAYFS_TOKEN to one that may write and start again, if that is wanted", s.o.Address, why)
}

func (s *Source) setReadOnly(reason string) {
	s.mu.Lock()
	was := s.readOnly
	s.readOnly = reason
	s.mu.Unlock()
	if was == "" {
		s.log.Warn("folder is read-only", bridge.LogFolder, s.o.Folder, "reason", reason)
	}
}

// writable takes back what setReadOnly said.
func (s *Source) writable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnly = ""
}

var _ interface {
	bridge.Source
	bridge.Structure
	bridge.Documents
	bridge.Locker
	bridge.Syncer
	io.Closer
} = (*Source)(nil)
