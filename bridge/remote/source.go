package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/internal/listing"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Store is the store of a Source; package bridge/store implements it. The RootSource in the workspace must use the same
// store.
type Store interface {
	model.Store
	schedule.Store
}

type Options struct {
	Address transport.Address
	Folder  string           // name of the folder's document on the server
	Store   Store            // the caller closes it after closing the Source
	Key     *token.Key       // key of a YSweet server, with which to mint tokens; if nil, tokens come from the server
	Tokens  transport.Tokens // required for a Relay address, otherwise unused
	// Author, if set, is shown as "Author (agent)" in the notes being edited.
	Author string
	// Attachments is the folder for the bytes of attachments. If it is "", or if the server does not store attachments,
	// the Source serves no attachments.
	Attachments owner.Folder
	Progress    func(Progress) // called while many notes are being fetched; may be nil
	// Resync is the interval between comparisons of a connected document, and the time limit of the server's answers. The
	// default is 20 s.
	Resync time.Duration
	// NewFolder creates the folder if the server has none of that name. Without it, a missing folder is an error, since
	// the name may be mistyped. y-websocket and Hocuspocus create every requested document anyway.
	NewFolder bool
	Logger    *slog.Logger // nil discards the messages
}

type Progress = schedule.Progress

type Source struct {
	o           Options
	server      transport.Server
	set         *replica.Set
	attachments *listing.Attachments
	listing     *listing.Listing
	schedule    *schedule.Scheduler
	drafts      *listing.Drafts
	problems    *model.Problems

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open returns a Source with the contents of its store, and starts to connect to the server.
func Open(o Options) (*Source, error) {
	o.Resync = cmp.Or(o.Resync, replica.DefaultResync)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s := &Source{o: o, server: transport.New(o.Address, o.Folder, o.Key, o.Tokens, schedule.Workers)}
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

func (s *Source) build() (err error) {
	o, p := s.o, &parts{}
	s.problems = model.NewProblems(o.Logger.With(model.LogFolder, o.Folder), o.Address.Explain)
	s.problems.MuteLog() // Scan unmutes it; if Scan fails, its error explains the empty folder
	if s.attachments, err = listing.OpenAttachments(o.Attachments, s.server, o.Folder, s.problems); err != nil {
		return err
	}
	s.set = replica.NewSet(replica.Options{
		Address: o.Address, Server: s.server, Name: o.Folder, Store: o.Store,
		Client: clientID(), Author: o.Author, Resync: o.Resync, NewFolder: o.NewFolder, Log: o.Logger, Problems: s.problems,
	}, p)
	if s.schedule, err = schedule.New(s.ctx, s.set, o.Store, o.Progress, p); err != nil {
		return err
	}
	s.listing = listing.New(s.ctx, s.set, s.attachments, s.schedule.SetNotes)
	s.drafts = listing.NewDrafts(s.ctx, s.set, s.listing, s.schedule)
	*p = parts{s.listing, s.schedule, s.drafts, s.attachments}
	return s.listing.List(true)
}

// clientID returns a random client ID from the lowest 256th of the range that Yjs uses. If two clients set one key of a
// map concurrently, Yjs keeps the value of the client with the higher ID. So users override agents, except in about one
// of 500 cases.
func clientID() ycrdt.ClientID { return ycrdt.ClientID(rand.Uint32())>>8 | 1 }

// Close ends the connections and stores the received changes. Before that, it sends pending changes if the server
// accepts them within a few seconds.
func (s *Source) Close() error {
	s.schedule.Drain()
	s.cancel()
	s.wg.Wait()
	s.drafts.Wait()
	s.server.Close()
	return s.set.Close()
}

// parts implements replica.Callbacks and schedule.Callbacks for a Source.
type parts struct {
	*listing.Listing
	*schedule.Scheduler
	*listing.Drafts
	attachments *listing.Attachments
}

func (p *parts) Retry() {
	p.attachments.Retry()
	p.Refresh()
	p.PromoteUploaded()
}

const firstContact = 20 * time.Second

// Scan reports the contents of the folder. It waits for the server only if the store has no contents.
func (s *Source) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	if err := s.firstContact(ctx); err != nil {
		return err
	}
	s.problems.UnmuteLog()
	s.listing.Scan(found)
	return ctx.Err()
}

func (s *Source) firstContact(ctx context.Context) error {
	empty, err := s.set.Folder.IsEmpty()
	if err != nil || !empty {
		return err
	}
	tried := s.schedule.Attempted(ctx, firstContact)
	switch err = cmp.Or(s.problems.Err(model.AboutConnection), ctx.Err()); {
	case err == nil && tried:
		return s.listing.List(true)
	case err == nil:
		err = fmt.Errorf("%w: no answer within %v", transport.ErrUnreachable, firstContact)
	}
	return fmt.Errorf("%s: %w; none of the folder's notes are stored here yet", s.o.Address, err)
}

// Run reports changes by peers until ctx ends.
func (s *Source) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	s.listing.Report(ctx, changed)
	return nil
}

// CheckName refuses names that are invalid on Windows, because every user who runs Obsidian there would get an error.
func (s *Source) CheckName(name string) error { return model.CheckWindowsName(name) }

func (s *Source) Mkdir(_ context.Context, rel string) error { return s.listing.Mkdir(rel) }

func (s *Source) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	return s.listing.Rename(oldRel, newRel, replace)
}

// Remove removes a file or an empty folder. The content document of a note stays on the server.
func (s *Source) Remove(_ context.Context, rel string) error { return s.listing.Remove(rel) }

// Hidden returns names that the folder's document has, but that are not listed: the last element of rel, or the names
// in the folder at rel.
func (s *Source) Hidden(_ context.Context, rel string) ([]string, error) {
	return s.listing.Hidden(rel)
}

var _ interface {
	model.Source
	model.Structure
	model.Restorer
	model.NameChecker
	model.FileChecker
	model.FileMerger
	model.Documents
	model.ReadOnlyReporter
	model.Syncer
	model.ProblemReporter
	io.Closer
} = (*Source)(nil)
