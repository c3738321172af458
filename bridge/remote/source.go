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
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/attachments"
	"github.com/relayfs/relayfs/bridge/remote/drafts"
	"github.com/relayfs/relayfs/bridge/remote/listing"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/schedule"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Store is what a Source keeps everything in: package bridge/store's is one. It
// must be the one that the workspace is given for the Folder.
type Store interface {
	model.Store
	schedule.Store
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

// Progress says how many of the folder's notes are here.
type Progress = schedule.Progress

// Source serves one shared folder of a server.
type Source struct {
	o           Options
	server      transport.Server
	set         *replica.Set
	attachments *attachments.Attachments
	listing     *listing.Listing
	schedule    *schedule.Scheduler
	drafts      *drafts.Drafts

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open makes a Source from what the store has, and begins to connect. It does
// not wait for the server.
func Open(o Options) (*Source, error) {
	if o.Resync <= 0 {
		o.Resync = replica.DefaultResync
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Source{o: o, server: transport.New(o.Address, o.Folder, o.Key, schedule.Workers)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.build(); err != nil {
		s.cancel()
		return nil, err
	}
	s.wg.Go(s.listing.Run)
	s.wg.Go(s.schedule.Run)
	s.wg.Go(func() { s.attachments.Run(s.ctx, s.schedule.Online, s.listing.Refresh) })
	return s, nil
}

// build makes what a Source consists of, from the store alone.
func (s *Source) build() (err error) {
	o := s.o
	if s.attachments, err = attachments.Open(o.Attachments, s.server, o.Folder, o.Logger); err != nil {
		return err
	}
	s.set = replica.NewSet(replica.Options{
		Address: o.Address, Server: s.server, Folder: o.Folder, Store: o.Store,
		Client: ycrdt.ClientID(rand.Uint32()) | 1, Author: o.Author, Resync: o.Resync, Log: o.Logger,
	}, owner{s})
	s.schedule, err = schedule.New(s.ctx, schedule.Options{
		Address: o.Address, Server: s.server, Folder: o.Folder, Set: s.set, Store: o.Store,
		Resync: o.Resync, Progress: o.Progress, Log: o.Logger,
	}, owner{s})
	if err != nil {
		return err
	}
	s.listing = listing.New(s.ctx, listing.Options{
		Set: s.set, Attachments: s.attachments, Folder: o.Folder, Notes: s.schedule.SetNotes, Log: o.Logger,
	})
	s.drafts = drafts.New(s.ctx, drafts.Options{
		Set: s.set, Listing: s.listing, Scheduler: s.schedule, Store: o.Store, Folder: o.Folder, Log: o.Logger,
	})
	return s.listing.List(false)
}

// Close sends what is to be sent, if the server takes it within a few seconds,
// ends the connections and keeps what has arrived.
func (s *Source) Close() error {
	s.schedule.Drain()
	s.cancel()
	s.wg.Wait()
	s.drafts.Wait()
	s.server.Close()
	return s.set.Flush()
}

// owner tells the parts of a Source of each other: replica.Owner and schedule.Folder.
type owner struct{ s *Source }

func (o owner) Path(id model.DocID) string { return o.s.listing.Path(id) }

func (o owner) Changed(d *replica.Document) { o.s.listing.Changed(d) }

func (o owner) FolderReceives(folder *ycrdt.Doc, update []byte) (applied func()) {
	return o.s.drafts.FolderReceives(folder, update)
}

func (o owner) Unsent(d *replica.Document, seq uint64, connected bool) {
	o.s.schedule.Unsent(d, seq, connected)
}

func (o owner) Acknowledged(d *replica.Document, seq uint64) { o.s.schedule.Acknowledged(d, seq) }

func (o owner) Connected() {
	o.s.listing.Refresh()
	o.s.drafts.PromoteUploaded()
	o.TryAgain()
}

func (o owner) TryAgain() {
	o.s.attachments.Retry()
	o.s.listing.Refresh()
}

func (o owner) Uploaded(d *replica.Document) { o.s.drafts.Uploaded(d) }

func (o owner) Named(name string) *replica.Document { return o.s.listing.Named(name) }

// firstContact is how long Scan waits for a server that was never seen.
const firstContact = 20 * time.Second

// Scan reports what the folder holds. It waits for the server only if nothing of
// the folder is in the store.
func (s *Source) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	if err := s.firstContact(ctx); err != nil {
		return err
	}
	s.listing.Scan(found)
	return ctx.Err()
}

func (s *Source) firstContact(ctx context.Context) error {
	empty, err := s.set.Folder().IsEmpty()
	if err != nil || !empty {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	if err := s.schedule.AwaitFolder(wait); err != nil {
		if cause := s.schedule.LastError(); cause != nil {
			err = cause
		} else if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%w: no answer within %v", transport.ErrUnreachable, firstContact)
		}
		return fmt.Errorf("%s: %w; nothing of the folder is kept here yet", s.o.Address, err)
	}
	return s.listing.List(false)
}

// Run reports what peers do until ctx ends.
func (s *Source) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	s.listing.Report(ctx, changed)
	return nil
}

// Mkdir makes one folder.
func (s *Source) Mkdir(_ context.Context, rel string) error { return s.listing.Mkdir(rel) }

// Rename moves a note or a folder with all that is in it.
func (s *Source) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	return s.listing.Rename(oldRel, newRel, replace)
}

// Remove takes a note or an empty folder away. The content stays at the server.
func (s *Source) Remove(_ context.Context, rel string) error { return s.listing.Remove(rel) }

// Hidden names what the folder's document has at rel, or in the folder rel, and is
// not shown.
func (s *Source) Hidden(_ context.Context, rel string) ([]string, error) {
	return s.listing.Hidden(rel)
}

var _ interface {
	model.Source
	model.Structure
	bridge.Documents
	model.Locker
	bridge.Syncer
	io.Closer
} = (*Source)(nil)
