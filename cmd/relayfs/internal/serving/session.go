package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

type Options struct {
	Workspace      bridge.Options // options of the workspace, except its folders
	Base           string         // folder that contains the state folders of all sources
	Presence       string         // name shown to other users of a server; "" shows none
	About          owner.Info     // version and configuration of this process
	NewFolder      bool           // whether to create the folder if the server has none with its ID
	Audience       string         // audience of tokens that relayfs makes; "" means the server's address
	SyncBefore     bool           // whether to fsync a note before it replaces the old file
	History        time.Duration  // time for which history is kept; 0 means forever
	DropEmptyState bool           // whether Close removes new state folders if nothing was stored
}

type Session struct {
	Workspace      *bridge.Workspace
	owner          *owner.Owner
	sources        []source.Source
	Base           string       // folder that contains the state folders of all sources
	State          owner.Folder // state folder of the first source
	about          owner.Info
	closers        []func() error
	dropEmptyState bool
	stores         []backup.Folder // one per source
	Log            *slog.Logger
}

func Open(ctx context.Context, sources []source.Source, o Options) (_ *Session, err error) {
	s := &Session{
		sources: sources, Base: o.Base, State: owner.Folder(sources[0].State(o.Base)), about: o.About, Log: o.Workspace.Logger,
		dropEmptyState: o.DropEmptyState,
	}
	defer func() {
		if err != nil {
			s.dropEmptyState = true
			s.Close()
		}
	}()
	claims := make([]owner.LockRequest, len(sources))
	for i, src := range sources {
		claims[i] = owner.LockRequest{Vault: src.Dir, Name: src.Place(), State: src.State(o.Base)}
		s.stores = append(s.stores, backup.Folder{Name: src.Name, Location: src.Place(), Source: src.String(), State: owner.Folder(claims[i].State)})
		s.about.Sources = append(s.about.Sources, src.String())
	}
	if s.owner, err = owner.Acquire(claims); err != nil {
		return nil, err
	}
	for _, sentence := range s.owner.Notices {
		s.Log.Warn(sentence)
	}
	if _, why := s.guarded(s.names()); why != "" && !o.DropEmptyState {
		s.Log.Warn(why)
	}
	var folders []bridge.RootSource
	for i, src := range sources {
		folder, err := s.openFolder(src, &s.stores[i], &o)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	o.Workspace.Roots = folders
	if s.Workspace, err = bridge.New(o.Workspace); err != nil {
		return nil, cli.Usage(err)
	}
	return s, s.Workspace.Start(ctx)
}

// names returns the names of all roots.
func (s *Session) names() (names []string) {
	for _, src := range s.sources {
		names = append(names, src.Name)
	}
	return names
}

// guarded returns the folders of the named roots that Relay's plugin shares, and a warning about them.
func (s *Session) guarded(roots []string) (folders []model.Path, why string) {
	for _, src := range s.sources {
		if slices.Contains(roots, src.Name) {
			folders = append(folders, src.PluginShares()...)
		}
	}
	if len(folders) > 0 {
		why = source.PluginWarning(folders) + "; " + source.PluginHint
	}
	return folders, why
}

func (s *Session) openFolder(src source.Source, f *backup.Folder, o *Options) (bridge.RootSource, error) {
	st, err := store.Open(f.State.Path("store"), store.Options{Logger: s.Log, History: o.History, FreeSpace: process.FreeSpace})
	if err != nil {
		return bridge.RootSource{}, err
	}
	s.closers, f.Store = append(s.closers, st.Close), st
	if src.Server != nil {
		folder, err := s.openServer(src, f, o)
		return bridge.RootSource{Name: src.Name, Source: folder, Store: st}, err
	}
	v, err := vault.New(src.Dir, vault.Options{Logger: s.Log, ReadOnly: o.Workspace.ReadOnly, Swap: f.State.Path("swap"), SyncBefore: o.SyncBefore})
	if err != nil {
		return bridge.RootSource{}, err
	}
	s.closers = append(s.closers, v.Close)
	return bridge.RootSource{Name: src.Name, Vault: filepath.Base(src.Dir), Source: v, Store: st}, nil
}

// LogName is the name of a daemon's log, in the state folder of its first source.
const LogName = "relayfs.log"

// Client returns a client of a handler in this process, for all sources. If agent is set, the client has the access of
// an agent. Call end after use.
func (s *Session) Client(o mcpserver.Options, agent bool) (c *api.Client, end func()) {
	ws := s.Workspace
	if agent {
		ws = ws.ForAgents()
	}
	srv := mcpserver.New(ws, o)
	c, stop := api.InProcess(s.about, api.NewHandler(s.backend(ws, srv, s.names())))
	return c, func() {
		stop()
		srv.Close()
	}
}

// backend serves ws, which has the named roots.
func (s *Session) backend(ws *bridge.Workspace, srv *mcpserver.Server, roots []string) api.Backend {
	return api.Backend{
		Workspace: ws, MCP: srv,
		Stores:  slices.DeleteFunc(slices.Clone(s.stores), func(f backup.Folder) bool { return !slices.Contains(roots, f.Name) }),
		Guarded: func() ([]model.Path, string) { return s.guarded(roots) },
	}
}

// Close releases the sources. If it returns nil, all acknowledged saves are on disk.
func (s *Session) Close() error {
	var errs []error
	drop := s.dropEmptyState && !slices.ContainsFunc(s.stores, func(f backup.Folder) bool { return f.Store != nil && f.Store.HasRecords() })
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	switch {
	case s.owner == nil:
	case drop:
		s.owner.Forget()
	default:
		s.owner.Release()
	}
	return errors.Join(errs...)
}

func (s *Session) openServer(src source.Source, f *backup.Folder, o *Options) (*remote.Source, error) {
	r := remote.Options{
		Address: src.Server.Address, Folder: src.Server.Folder, Logger: s.Log, Attachments: f.State.Sub("attachments"), Author: o.Presence,
		Store: f.Store, Progress: progressLine(src.Name), NewFolder: o.NewFolder,
	}
	r.Address.Audience = o.Audience
	var err error
	if r.Tokens, r.Key, err = src.Server.Access(s.Base); err != nil {
		return nil, err
	}
	folder, err := remote.Open(r)
	if err == nil {
		s.closers = append(s.closers, folder.Close)
	}
	return folder, err
}

func progressLine(name string) func(remote.Progress) {
	var mu sync.Mutex // guards the variables below
	var start, shown time.Time
	first, done := 0, false
	return func(p remote.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if start.IsZero() {
			start, first, done = now, p.Fetched, p.Fetched == p.Notes
		}
		finished := p.Fetched == p.Notes
		if done || !finished && now.Sub(shown) < time.Second/4 {
			return
		}
		shown, done = now, finished
		cli.Stderr.Show(progressText(name, p, p.Fetched-first, now.Sub(start)), finished)
	}
}

// progressText returns the progress with an estimate of the remaining time. fetched is the number of notes that were
// fetched since the first call, and in is the time since then.
func progressText(name string, p remote.Progress, fetched int, in time.Duration) string {
	line := fmt.Sprintf("%s: %d of %d notes", name, p.Fetched, p.Notes)
	if fetched <= 0 || in <= 0 {
		return line
	}
	rate := float64(fetched) / in.Seconds()
	line += fmt.Sprintf(", %.0f a second", rate)
	if left := p.Notes - p.Fetched; left > 0 {
		line += fmt.Sprintf(", %s left", time.Duration(math.Ceil(float64(left)/rate))*time.Second)
	}
	return line
}

// Serve follows the sources and serves the owner's socket and the ports while work runs. The context of work ends with
// ctx, or when a source or a port fails. Serve answers requests in progress before it ends the workspace.
func (c *Control) Serve(ctx context.Context, command string, work func(context.Context) error) error {
	l, socket, err := owner.Listen()
	if err != nil {
		return err
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start, stopWorkspace := newTaskGroup(ctx, cancel)
	start(c.Workspace.Run)
	c.announced = c.info(command, socket)
	start, stopFront := newTaskGroup(ctx, cancel) // must end before the workspace
	start(func(ctx context.Context) error { return c.serve(ctx, l) })
	if c.Semantic != nil {
		start(c.Semantic.Run)
	}
	if c.HTTP != nil {
		start(func(ctx context.Context) error { return c.HTTP.Serve(ctx, c.MCP, c.Workspace.Ready, c.Log) })
	}
	if c.Metrics != nil {
		start(func(ctx context.Context) error { return c.Metrics.serve(ctx, c) })
	}
	c.announce(start)
	return errors.Join(work(wctx), stopFront(), stopWorkspace())
}

const announceRetry = time.Second

// announce publishes this process's Info for other processes. If this fails, for example on a full disk, announce
// retries as long as the process serves.
func (c *Control) announce(start func(run func(context.Context) error)) {
	problems := model.NewProblems(c.Log, func(err error) string {
		return fmt.Sprintf("other relayfs commands cannot find this process: %v; free space on that disk or fix the error, and relayfs tries again", err)
	})
	err := c.owner.Announce(c.announced)
	problems.Record("announcement", err)
	if err == nil {
		return
	}
	start(func(ctx context.Context) error {
		for problems.Err("announcement") != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(announceRetry):
			}
			problems.Record("announcement", c.owner.AnnounceAgain())
		}
		return nil
	})
}

// newTaskGroup returns functions that start a goroutine of a group, and stop the group. Only stop, or an error of a
// goroutine, ends the goroutines; the end of ctx does not. failed is called when a goroutine returns an error.
func newTaskGroup(ctx context.Context, failed func()) (start func(run func(context.Context) error), stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, failed)
	return func(run func(context.Context) error) { group.Go(func() error { return run(ctx) }) },
		func() error {
			cancel()
			return group.Wait()
		}
}

func (c *Control) info(command, socket string) owner.Info {
	info := c.about
	info.PID, info.Command, info.Mountpoint, info.Socket = os.Getpid(), command, c.Workspace.Mountpoint(), socket
	info.Started = time.Now().UTC().Truncate(time.Second)
	if h := c.HTTP; h != nil {
		info.HTTP = &owner.HTTP{URL: h.URL(), TokenFile: h.TokenFile}
	}
	if process.InBackground() {
		info.Log = c.State.Path(LogName)
	}
	return info
}
